import { afterAll, beforeAll, expect, test } from 'vitest'
import { UserError } from '../core/errors'
import { freshDatabase } from '../tests/services'
import { type Database, inTransaction, isAway, isPassing, openDatabase, ping } from './database'
import { runs } from './schema/crawl'

let site: { url: string; drop(): Promise<void> }
let database: Database

beforeAll(async () => {
  site = await freshDatabase()
  database = openDatabase(site.url, 4)
})
afterAll(async () => {
  await database.close()
  await site.drop()
})

test('text comes back byte for byte, and case, accents and emoji stay distinct in comparisons', async () => {
  const texts = ['https://a/A', 'https://a/a', 'https://a/a ', 'https://a/é', 'https://a/e', 'https://a/😀']
  for (const [n, text] of texts.entries()) {
    await database.pool.execute(
      'INSERT INTO seeds (spider_id, run_id, url, url_hash, created_at) VALUES (1, 0, ?, ?, NOW(3))',
      [text, Buffer.alloc(32, n)],
    )
  }
  const [rows] = await database.pool.query('SELECT url FROM seeds ORDER BY id')
  expect((rows as { url: string }[]).map((row) => row.url)).toEqual(texts)
  // PAD SPACE: a trailing blank alone does not tell texts apart, which is why pages are keyed by a hash.
  const [distinct] = await database.pool.query('SELECT DISTINCT url FROM seeds')
  expect(distinct).toHaveLength(texts.length - 1)
})

test('every session is UTC, strict and READ COMMITTED', async () => {
  const [rows] = await database.pool.query(
    'SELECT @@time_zone AS zone, @@sql_mode AS mode, @@tx_isolation AS isolation',
  )
  expect(rows).toMatchObject([
    { zone: '+00:00', isolation: 'READ-COMMITTED', mode: expect.stringContaining('STRICT_ALL_TABLES') },
  ])
})

test('a transaction that failed leaves nothing behind, and its connection goes back clean', async () => {
  await expect(
    inTransaction(database.pool, async (connection) => {
      await connection.query("INSERT INTO dispatcher VALUES (7, 1, 'a', 'b', NOW(3))")
      throw new Error('no')
    }),
  ).rejects.toThrow('no')
  const [rows] = await database.pool.query('SELECT * FROM dispatcher WHERE id = 7')
  expect(rows).toEqual([])
})

test('a database that is not there is named without its password', async () => {
  const away = openDatabase('mysql://me:hunter2@127.0.0.1:1/none', 1)
  await expect(ping(away, 'mysql://me:hunter2@127.0.0.1:1/none')).rejects.toThrow(
    /mysql:\/\/me:\*\*\*@127\.0\.0\.1:1.*check that it runs/,
  )
  await away.close()
})

/** What a query on this address ends with. */
async function faultOf(url: string, ask = (from: Database): Promise<unknown> => from.pool.query('SELECT 1')) {
  const from = openDatabase(url, 1)
  try {
    return await ask(from).then(
      () => null,
      (error: unknown) => error,
    )
  } finally {
    await from.close().catch(() => {})
  }
}

test.each([
  ['nothing listens there', 'mysql://me@127.0.0.1:1/none'],
  ['its name does not resolve', 'mysql://me@database.invalid:3306/none'],
])('a server is away when %s, also by the words of the query builder', async (_, url) => {
  expect(await faultOf(url)).toSatisfy(isAway)
  expect(await faultOf(url, (from) => from.orm.select().from(runs))).toSatisfy(isAway)
})

test('a server is away when its connection is cut in the middle of a query', async () => {
  const fault = faultOf(site.url, async (from) => {
    const [rows] = await from.pool.query('SELECT CONNECTION_ID() AS id')
    // Together, since the answer to KILL may come after the cut.
    return Promise.all([
      from.pool.query('SELECT SLEEP(30)'),
      database.pool.query(`KILL ${(rows as { id: number }[])[0]!.id}`),
    ])
  })
  expect(await fault).toSatisfy(isPassing)
})

test('what the server refuses for its content is no passing fault', async () => {
  for (const statement of [
    "INSERT INTO seeds (spider_id, run_id, url, url_hash, created_at) VALUES (1, 0, 'x', REPEAT('x', 99), NOW(3))",
    "INSERT INTO seeds (spider_id, run_id, url, url_hash, created_at) VALUES (1, 0, 'x', REPEAT('x', 32), 'no date')",
    'SELECT 1 FROM there_is_no_such_table',
  ])
    expect([statement, await faultOf(site.url, (from) => from.pool.query(statement))]).toSatisfy(
      ([, fault]: [string, unknown]) => fault !== null && !isPassing(fault) && !isAway(fault),
    )
})

test('what is a person’s to mend is no passing fault, whatever caused it', async () => {
  const cause = await faultOf('mysql://me@127.0.0.1:1/none')
  expect(new Error('a query failed', { cause })).toSatisfy(isAway)
  const mistake = new UserError('The socket refuses us; set its group.', undefined, { cause })
  expect([isAway(mistake), isPassing(mistake)]).toEqual([false, false])
})
