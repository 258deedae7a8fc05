import { afterAll, beforeAll, expect, test } from 'vitest'
import { openServerRig, type ServerRig } from '../../tests/server-rig'
import { changeFile } from './change-file'
import { type Change, listChanges } from './changes'

let rig: ServerRig
beforeAll(async () => {
  rig = await openServerRig()
  // 20,000 changes in 5,000 milliseconds: many share one.
  const digits =
    '(SELECT 0 n UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)'
  await rig.rows(
    `INSERT INTO audit_log (at, actor, action, subject, detail)
       SELECT TIMESTAMP('2026-01-01 00:00:00.000') + INTERVAL (i % 5000) * 1000 MICROSECOND, CONCAT('actor', i % 50), IF(i % 20 = 0, 'run.cancel', 'run.start'), CONCAT(i % 1000), 'null'
       FROM (SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n AS i FROM ${digits} a, ${digits} b, ${digits} c, ${digits} d, (SELECT 0 n UNION SELECT 1) e) numbers`,
  )
  await rig.rows('ANALYZE TABLE audit_log')
})
afterAll(() => rig.close())

async function all(filter: Omit<Parameters<typeof listChanges>[1], 'limit' | 'after'>, limit: number) {
  const found: Change[] = []
  for (;;) {
    const last = found.at(-1)
    const page = await listChanges(rig.services, {
      ...filter,
      after: last && { at: last.at.getTime(), id: last.id },
      limit,
    })
    found.push(...page)
    if (page.length < limit) return found
  }
}

test('paging gives each change once, newest first, also where many are of one millisecond', async () => {
  const found = await all({ actor: 'actor7' }, 7)
  expect(found).toHaveLength(400)
  expect(new Set(found.map((one) => one.id)).size).toBe(400)
  expect(found).toEqual([...found].sort((a, b) => b.at.getTime() - a.at.getTime() || b.id - a.id))
})

test('filters hold together: actor, action, subject, and a time with its begin and without its end', async () => {
  expect(await all({ action: 'run.cancel', subject: '40' }, 50)).toHaveLength(20)
  expect(await all({ actor: 'actor1', action: 'run.cancel' }, 50)).toHaveLength(0)
  const from = new Date('2026-01-01T00:00:01.000Z')
  const to = new Date('2026-01-01T00:00:01.002Z')
  const found = await all({ from, to }, 50)
  expect(found).toHaveLength(8)
  expect(found.every((one) => one.at >= from && one.at < to)).toBe(true)
})

test.each([
  ['all', {}, 'audit_log_at'],
  ['an actor', { actor: 'actor7' }, 'audit_log_actor'],
  ['an action', { action: 'run.cancel' }, 'audit_log_action'],
  ['a subject', { subject: '40' }, 'audit_log_subject'],
] as const)(
  'a page of the changes of %s is one stretch of an index, without sorting',
  async (_, filter, index) => {
    for (const after of [undefined, { at: Date.parse('2026-01-01T00:00:02.500Z'), id: 10_000 }]) {
      const { sql, params } = await listed({ ...filter, after, limit: 50 })
      const [plan] = await rig.rows<{ key: string; Extra: string }>(`EXPLAIN ${sql}`, params)
      expect(plan!.key).toBe(index)
      expect(plan!.Extra ?? '').not.toMatch(/filesort|temporary/)
    }
  },
)

/** The statement that the list makes, as the database gets it. */
async function listed(
  filter: Parameters<typeof listChanges>[1],
): Promise<{ sql: string; params: unknown[] }> {
  let seen: { sql: string; params: unknown[] } | undefined
  const { pool } = rig.services.database
  const { query } = pool
  // The statement goes through: only its words are wanted.
  pool.query = ((options: { sql: string }, params: unknown[]) => {
    seen = { sql: options.sql, params }
    return query.call(pool, options as never, params as never)
  }) as never
  try {
    await listChanges(rig.services, filter)
  } finally {
    pool.query = query
  }
  return seen!
}

test('a file of the changes has each that the filter leaves once, newest first, and nothing in it runs in a spreadsheet', async () => {
  await rig.rows(
    `INSERT INTO audit_log (at, actor, action, subject, detail) VALUES ('2026-02-01 00:00:00.000', '=HYPERLINK("x")', 'run.start', '-1', '{"a":1}')`,
  )
  const text = async (filter: Parameters<typeof changeFile>[1], format: 'csv' | 'jsonl') => {
    const parts: Uint8Array[] = []
    for await (const part of changeFile(rig.services, filter, format)) parts.push(part)
    return Buffer.concat(parts).toString()
  }
  const lines = (await text({ action: 'run.cancel' }, 'jsonl')).trim().split('\n')
  const ids = lines.map((line) => JSON.parse(line).id as number)
  expect(new Set(ids).size).toBe(1000)
  expect(ids).toHaveLength(1000)
  const csv = await text({ from: new Date('2026-01-31'), subject: '-1' }, 'csv')
  expect(csv).toMatch(/^\ufeffid,at,actor,action,subject,detail\r\n\d+,2026-02-01T00:00:00\.000Z,/)
  expect(csv).toContain(`"'=HYPERLINK(""x"")",run.start,'-1,"{""a"":1}"`)
})
