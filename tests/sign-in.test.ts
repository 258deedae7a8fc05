import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setEnv } from '../core/env'
import { listCredentials, removeCredentials, saveCredentials } from '../server/services/credentials'
import { type CrawlRig, openRig } from './crawl-rig'

const KEY = 'of-this-test-run-only-0123456789abcdef'
const PASSWORD = 'pässword: hushhush'

let rig: CrawlRig
let site: Server
let other: Server
let home: string
let away: string
/** Another name of the same. */
let elsewhere: string
const asked: { at: string; headers: IncomingHttpHeaders }[] = []

async function open(answer: Parameters<typeof createServer>[1]): Promise<[Server, string]> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return [server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`]
}

beforeAll(async () => {
  setEnv({ SECRETS_KEY: KEY })
  ;[site, home] = await open(({ url, headers }, response) => {
    asked.push({ at: `home${url}`, headers })
    if (url === '/robots.txt') return response.writeHead(404).end()
    if (url === '/out') return response.writeHead(302, { location: `${away}/in` }).end()
    const known = headers.authorization ?? headers['x-api-key']
    response.writeHead(known ? 200 : 401, { 'content-type': 'text/html' })
    response.end('<title>x</title><a href="/next">next</a>')
  })
  ;[other, away] = await open(({ url, headers }, response) => {
    asked.push({ at: `away${url}`, headers })
    if (url === '/robots.txt') return response.writeHead(404).end()
    response.writeHead(302, { location: `${home}/back` }).end()
  })
  elsewhere = away.replace('127.0.0.1', 'localhost')
  rig = await openRig({ perHost: 1 })
})
afterAll(async () => {
  site.close()
  other.close()
  await rig.close()
})

const headersAt = (at: string) => asked.filter((one) => one.at === at).map(({ headers }) => headers)

test('a spider signs in at its site, and nowhere else, also when redirects lead away and back', async () => {
  const { services, spider } = rig
  await saveCredentials(
    services,
    {
      spider: spider.id,
      origin: `${home}/some/page`,
      credentials: { kind: 'basic', user: 'me', password: PASSWORD },
    },
    'test',
  )
  await services.database.pool.query(
    'INSERT INTO spider_credentials SELECT NULL, spider_id, ?, kind, shown, sealed, author, updated_at FROM spider_credentials',
    [elsewhere],
  )
  rig.workers(1, { SECRETS_KEY: KEY })
  await rig.ended(await rig.run(`${home}/`))
  const [sent] = headersAt('home/next')
  const [scheme, pair] = sent!.authorization!.split(' ')
  expect(scheme).toBe('Basic')
  expect(Buffer.from(pair!, 'base64').toString()).toBe(`me:${PASSWORD}`)

  await rig.ended(await rig.run(`${home}/out`))
  await rig.ended(await rig.run(`${away}/in`))
  expect(headersAt('home/out')[0]!.authorization).toBeDefined()
  expect(headersAt('away/in')).toHaveLength(2)
  for (const headers of [...headersAt('away/in'), ...headersAt('home/back')])
    expect(headers.authorization).toBeUndefined()
}, 60_000)

test('the secret stands nowhere in the database or the answers, and does not open elsewhere', async () => {
  const { services, spider } = rig
  await removeCredentials(services, { spider: spider.id, origin: elsewhere }, 'test')
  expect(await listCredentials(services, spider.id)).toEqual([
    { origin: home, kind: 'basic', shown: 'me', author: 'test', updatedAt: expect.any(Number) },
  ])
  const { pool } = services.database
  const [tables] = await pool.query('SHOW TABLES')
  for (const name of (tables as object[]).map((row) => String(Object.values(row)[0]))) {
    const [rows] = await pool.query(`SELECT * FROM \`${name}\``)
    expect(JSON.stringify(rows), name).not.toMatch(/hushhush/)
  }
  const run = await rig.run(`${elsewhere}/moved`)
  await rig.ended(run)
  const [pages] = await pool.query('SELECT state, reason FROM pages WHERE run_id = ?', [run])
  expect(pages).toEqual([{ state: 'failed', reason: 'credentials' }])
  expect(headersAt('away/moved')).toEqual([])
}, 60_000)

test.each([
  [{ kind: 'headers', headers: { Host: 'x' } }, /not a header to sign in with/],
  [{ kind: 'headers', headers: { 'X-Key': 'a\r\nX-More: b' } }, /one line/],
  [{ kind: 'bearer', token: 'secret\n' }, /one line/],
  [{ kind: 'basic', user: 'a:b', password: 'secret' }, /no colon/],
])('credentials that cannot be sent are refused, without telling them: %j', async (credentials, words) => {
  const save = saveCredentials(rig.services, { spider: rig.spider.id, origin: home, credentials }, 'test')
  await expect(save).rejects.toThrow(words)
  await expect(save).rejects.not.toThrow(/secret/)
})
