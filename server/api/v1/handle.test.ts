import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { env, setEnv } from '../../../core/env'
import { CONSOLE, consoleServices, requestOf } from '../../../tests/console-services'
import type { Services } from '../../context'
import { createKey, listKeys, revokeKey } from '../../services/api-keys'
import { listChanges } from '../../services/changes'
import { ensureQueue } from '../../services/queues'
import { createContext } from '../context'
import { handle } from './handle'
import { operations } from './operations'

let services: Services
let end: () => Promise<void>
let queue: string
let key: { id: string; key: string }

beforeAll(async () => {
  ;({ services, end } = await consoleServices())
  // Proxies are tried by leading there; here none leads anywhere.
  setEnv({ PROXY_TEST_URL: CONSOLE })
  queue = env().QUEUE_KEY
  await ensureQueue(services, queue)
})
afterAll(() => end())
beforeEach(async () => {
  key = await createKey(services, { name: 'test', role: 'admin' }, 'test')
})

interface Asked {
  headers?: Record<string, string>
  body?: unknown
  as?: string | null
}
async function ask(route: string, { headers = {}, body, as = key.key }: Asked = {}) {
  const [method, path] = route.split(' ') as [string, string]
  const raw = typeof body === 'string' || body instanceof ReadableStream
  const response = await handle(
    new Request(`${CONSOLE}/api/v1${path}`, {
      method,
      headers: {
        ...(as !== null && { authorization: `Bearer ${as}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: raw ? (body as string) : JSON.stringify(body), duplex: 'half' }),
    }),
    async () => requestOf(services, null),
  )
  const text = await response.text()
  // biome-ignore lint/suspicious/noExplicitAny: whatever it answers is compared as a whole.
  const told: any = text === '' ? null : JSON.parse(text)
  return { status: response.status, headers: response.headers, told }
}

async function aRun(): Promise<number> {
  const { told } = await ask('POST /runs', { body: { url: 'https://example.com/' } })
  return told.id
}

test('a spider, its seeds and a run of it are made, read and changed by one who has a key', async () => {
  const made = await ask('POST /spiders', { body: { definition: { name: 'shop', maxPages: 5 } } })
  expect(made).toMatchObject({ status: 201, told: { name: 'shop', version: 1, definition: { maxPages: 5 } } })
  expect(await ask('POST /spiders', { body: { definition: { name: 'shop' } } })).toMatchObject({
    status: 409,
    told: { error: { code: 'spider_there' } },
  })
  const changed = await ask('PUT /spiders/shop', { body: { definition: { maxPages: 6 }, version: 1 } })
  expect(changed.told).toMatchObject({ version: 2, definition: { maxPages: 6 } })
  expect(await ask('PUT /spiders/shop', { body: { definition: { maxPages: 7 }, version: 1 } })).toMatchObject(
    { status: 409, told: { error: { code: 'spider_changed' } } },
  )
  const seeds = ['https://example.com/a', 'https://example.com/a', 'ftp://example.com/', 'https://例え.jp/ü']
  const added = await ask('POST /spiders/shop/seeds', { body: { seeds: seeds.map((url) => ({ url })) } })
  expect(added.told).toMatchObject({ added: 2, known: 1, refused: [{ at: 2, url: 'ftp://example.com/' }] })
  const started = await ask('POST /runs', { body: { spider: 'shop', queue } })
  expect(started).toMatchObject({ status: 201, told: { spider: 'shop', startedBy: `key:${key.id} test` } })
  expect(started.told.createdAt).toMatch(/^\d{4}-.*Z$/)
  const run = `/runs/${started.told.id}`
  expect((await ask(`GET ${run}`)).told).toMatchObject({ state: 'seeding', counts: { admitted: 0 } })
  expect((await ask(`POST ${run}/cancel`)).told.state).toMatch(/^cancel/)
  const [last] = await listChanges(services, { limit: 1 })
  expect(last).toMatchObject({ action: 'run.cancel', actor: `key:${key.id} test` })
})

test('every list and every reading answers as it is documented', async () => {
  const run = await aRun()
  await ask('POST /spiders', { body: { definition: { name: 'read' } } })
  const { told: made } = await ask('POST /schedules', {
    body: { name: 'nightly', spider: 'read', queue, cron: '0 3 * * *' },
  })
  expect(made.next).toHaveLength(5)
  await ask('POST /scale-requests', { body: { queue, wanted: 2 } })
  const values: Record<string, string | number> = {
    spider: 'read',
    version: 1,
    schedule: made.id,
    run,
    queue,
  }
  const query: Record<string, string> = {
    listItems: '?kind=page',
    readHistory: '?range=1h',
    whyWaiting: `?url=https://example.com/&run=${run}`,
  }
  // These need what a worker makes, or answer with files.
  const left = ['readPage', 'readPageContent', 'downloadPages', 'downloadItems', 'readRejectedLines']
  for (const { id, method, parts } of operations) {
    if (method !== 'GET' || left.includes(id)) continue
    const path = parts.map((part) => part.replace(/\{(\w+)\}/, (_, name) => String(values[name]))).join('/')
    expect(await ask(`GET /${path}${query[id] ?? ''}`), id).toMatchObject({ status: 200 })
  }
})

test('a spider’s sign-ins and a queue’s proxies are set, told without their secrets, and removed; proxies only by administrators', async () => {
  await ask('POST /spiders', { body: { definition: { name: 'member' } } })
  const credentials = { kind: 'basic', user: 'ada', password: 'of-this-test' }
  const body = { origin: 'https://example.com/login', credentials }
  expect((await ask('PUT /spiders/member/sign-ins', { body })).status).toBe(204)
  const shown = await ask('GET /spiders/member/sign-ins')
  expect(shown.told.data).toMatchObject([{ origin: 'https://example.com', kind: 'basic', shown: 'ada' }])
  expect(JSON.stringify(shown.told)).not.toContain('of-this-test')
  await ask('DELETE /spiders/member/sign-ins?origin=https://example.com')
  expect((await ask('GET /spiders/member/sign-ins')).told.data).toEqual([])

  const proxies = { body: { proxies: ['socks5://ada:of-this-test@127.0.0.1:1'] } }
  const operator = await createKey(services, { name: 'operator', role: 'operator' }, 'test')
  expect((await ask(`POST /queues/${queue}/proxies`, { ...proxies, as: operator.key })).status).toBe(403)
  const refused = await ask(`POST /queues/${queue}/proxies`, proxies)
  expect(refused.told).toMatchObject({ added: 0, refused: [{ at: 0 }] })
  expect(JSON.stringify(refused.told)).not.toContain('of-this-test')
  await services.database.pool.query(
    "INSERT INTO proxies (queue, shown, sealed, author, created_at) VALUES (?, 'socks5://one', 'x', 'test', UTC_TIMESTAMP(3))",
    [queue],
  )
  const [one] = (await ask(`GET /queues/${queue}/proxies`)).told.data
  expect(one).toMatchObject({ shown: 'socks5://one', restsUntil: null })
  await ask(`DELETE /queues/${queue}/proxies/${one.id}`)
  expect((await ask(`GET /queues/${queue}/proxies`)).told.data).toEqual([])
})

test('without a key that counts at this moment nothing is answered, whatever cookie comes along', async () => {
  expect(
    await ask('GET /runs', { as: null, headers: { cookie: 'orbweaver.session_token=x' } }),
  ).toMatchObject({
    status: 401,
    told: { error: { code: 'key_missing' } },
  })
  expect(await ask('GET /nowhere', { as: null })).toMatchObject({ status: 401 })
  expect((await ask('GET /runs')).status).toBe(200)
  expect((await listKeys(services)).find(({ id }) => id === key.id)?.lastUsedAt).toBeInstanceOf(Date)
  await revokeKey(services, key.id, 'test')
  const refused = await ask('GET /runs')
  expect(refused).toMatchObject({ status: 401, told: { error: { code: 'key_invalid' } } })
  expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="orbweaver", error="invalid_token"')
  const old = await createKey(services, { name: 'old', role: 'admin', days: 1 }, 'test')
  await services.database.pool.query('UPDATE api_key SET expires_at = UTC_TIMESTAMP(3) WHERE id = ?', [
    old.id,
  ])
  expect((await ask('GET /runs', { as: old.key })).status).toBe(401)
  for (const wrong of [`${key.key}x`, key.key.slice(0, -1), 'orb_', "' OR 1=1 --"])
    expect((await ask('GET /runs', { as: wrong })).status, wrong).toBe(401)
})

test('a key in the address opens nothing, and its sender is told to revoke it', async () => {
  const answer = await ask(`GET /runs?api_key=${key.key}`, { as: null })
  expect(answer).toMatchObject({ status: 401, told: { error: { code: 'key_in_address' } } })
  expect(JSON.stringify(answer.told)).not.toContain(key.key)
})

test('the console’s own procedures take no key', async () => {
  const { person } = await createContext(new Headers({ authorization: `Bearer ${key.key}` }))
  expect(person).toBeNull()
})

const text = (n: number) => 'x'.repeat(n)
test.each<[string, string, Asked, number, string]>([
  ['a path that is none', 'GET /nothing', {}, 404, 'no_such_path'],
  ['a path above', 'GET /runs/../../etc/passwd', {}, 404, 'no_such_path'],
  ['a path of a prototype', 'GET /__proto__', {}, 404, 'no_such_path'],
  ['a method that is none here', 'DELETE /runs', {}, 405, 'method'],
  ['a broken character', 'GET /spiders/%E0%A4%A', {}, 400, 'path'],
  ['an id of letters', 'GET /runs/abc', {}, 400, 'input'],
  ['an id in another number system', 'GET /runs/0x10', {}, 400, 'input'],
  ['an id beyond all numbers', `GET /runs/${'9'.repeat(40)}`, {}, 400, 'input'],
  ['an id of other digits', 'GET /runs/%EF%BC%91', {}, 400, 'input'],
  ['a run that is none', 'GET /runs/999999999', {}, 404, 'not_found'],
  ['a spider that is none', 'GET /spiders/%F0%9F%95%B7%27%20OR%201=1', {}, 404, 'not_found'],
  [
    'a queue that is none',
    'POST /queues/none/urls',
    { body: { urls: ['https://a.test/'] } },
    404,
    'queue_unknown',
  ],
  ['an unknown parameter', 'GET /runs?sort=password', {}, 400, 'input'],
  ['a parameter of the prototype', 'GET /runs?__proto__=x', {}, 400, 'input'],
  ['a parameter twice', 'GET /runs?limit=1&limit=2', {}, 400, 'input'],
  ['too large a limit', 'GET /runs?limit=1000000000', {}, 400, 'input'],
  ['a cursor that is none', 'GET /runs?cursor=%27%20OR%201=1', {}, 400, 'input'],
  [
    'a cursor of another list',
    `GET /runs?cursor=${Buffer.from('{"at":1}').toString('base64url')}`,
    {},
    400,
    'input',
  ],
  ['an unknown field', 'POST /runs', { body: { url: 'https://a.test/', prioriy: 1 } }, 400, 'input'],
  ['a field of the prototype', 'POST /runs', { body: '{"__proto__":{"a":1}}' }, 400, 'input'],
  ['a field of another type', 'POST /runs', { body: { url: ['https://a.test/'] } }, 400, 'input'],
  ['no JSON', 'POST /runs', { body: '{"url":' }, 400, 'json'],
  ['JSON that is deep', 'POST /runs', { body: '['.repeat(100_000) }, 400, 'json'],
  [
    'another type of body',
    'POST /runs',
    { body: 'a=b', headers: { 'content-type': 'text/plain' } },
    415,
    'media_type',
  ],
  ['a body where none is taken', 'POST /queues/q/pause', { body: {} }, 400, 'input'],
  ['a body that is too large', 'POST /runs', { body: `{"url":"${text(1_100_000)}"}` }, 413, 'body_size'],
  ['a URL of another scheme', 'POST /runs', { body: { url: 'javascript:alert(1)' } }, 422, 'url_scheme'],
  ['a definition with faults', 'POST /spiders', { body: { definition: { name: '../x' } } }, 422, 'refused'],
  [
    'more URLs than are taken',
    'POST /queues/q/urls',
    { body: { urls: Array(10_001).fill('https://a.test/') } },
    400,
    'input',
  ],
  [
    'an Idempotency-Key that is none',
    'POST /runs',
    { body: {}, headers: { 'idempotency-key': text(201) } },
    400,
    'input',
  ],
])('%s is refused with its reason, and changes nothing', async (_, route, asked, status, code) => {
  const [before] = await listChanges(services, { limit: 1 })
  const { status: got, told, headers } = await ask(route, asked)
  expect(told).toEqual({
    error: {
      code,
      message: expect.stringMatching(/\S/),
      request: expect.stringMatching(/^[0-9a-f]{8}$/),
      ...(code === 'input' && told.error.faults && { faults: expect.any(Array) }),
    },
  })
  expect(got).toBe(status)
  if (status === 405) expect(headers.get('allow')).toBe('GET, POST')
  const [after] = await listChanges(services, { limit: 1 })
  // Each case has a key of its own, which is a change.
  expect(after?.action).toBe(before?.action)
  expect(({} as { a?: unknown }).a).toBeUndefined()
})

test('filters are compared as text: what would be SQL finds nothing and breaks nothing', async () => {
  const run = await aRun()
  for (const evil of ["' OR '1'='1", '%', '\\', '"; DROP TABLE runs; --', '\u0000', '🕷'])
    expect(
      await ask(`GET /runs/${run}/pages?url=${encodeURIComponent(evil)}&host=${encodeURIComponent(evil)}`),
    ).toMatchObject({ status: 200, told: { data: [], next: null } })
})

test('a body without a length is read no further than is taken', async () => {
  let sent = 0
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 65_536
      controller.enqueue(new Uint8Array(65_536).fill(0x20))
    },
  })
  expect(await ask('POST /runs', { body: endless })).toMatchObject({ status: 413 })
  expect(sent).toBeLessThan(1_500_000)
})

test('a request that is sent again under its Idempotency-Key is carried out once', async () => {
  const headers = { 'idempotency-key': 'order-1' }
  const body = { url: 'https://example.com/once' }
  const [first, second] = await Promise.all([1, 2].map(() => ask('POST /runs', { headers, body })))
  const statuses = [first!.status, second!.status].sort()
  // Whichever came second while the first was under way is told to wait.
  expect([
    [201, 201],
    [201, 409],
  ]).toContainEqual(statuses)
  const again = await ask('POST /runs', { headers, body })
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  expect(again.told).toEqual((first!.status === 201 ? first : second)!.told)
  const { told } = await ask('GET /runs?limit=200')
  expect(told.data.filter((run: { id: number }) => run.id >= again.told.id)).toHaveLength(1)

  expect(await ask('POST /runs', { headers, body: { url: 'https://example.com/other' } })).toMatchObject({
    status: 422,
    told: { error: { code: 'idempotency_key_used' } },
  })
  const other = await createKey(services, { name: 'other', role: 'operator' }, 'test')
  expect((await ask('POST /runs', { headers, body, as: other.key })).told.id).not.toBe(again.told.id)
})

test('what was refused may be sent again under its Idempotency-Key', async () => {
  const headers = { 'idempotency-key': 'order-2' }
  const body = { spider: 'later' }
  expect((await ask('POST /runs', { headers, body })).status).toBe(404)
  await ask('POST /spiders', { body: { definition: { name: 'later', seeds: ['https://example.com/'] } } })
  expect((await ask('POST /runs', { headers, body })).status).toBe(201)
})

test('a key that asks too often is told when to go on, and others are not held up', async () => {
  setEnv({ API_REQUESTS_PER_MINUTE: '3' })
  try {
    for (let n = 0; n < 3; n++) expect((await ask('GET /queues')).status).toBe(200)
    const refused = await ask('GET /queues')
    expect(refused).toMatchObject({ status: 429, told: { error: { code: 'too_many_requests' } } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const other = await createKey(services, { name: 'other', role: 'viewer' }, 'test')
    expect((await ask('GET /queues', { as: other.key })).status).toBe(200)
  } finally {
    setEnv({ API_REQUESTS_PER_MINUTE: '600' })
  }
})

test('a list is read to its end by cursor, each entry once', async () => {
  await ask('POST /spiders', { body: { definition: { name: 'long' } } })
  const seeds = Array.from({ length: 23 }, (_, n) => ({ url: `https://example.com/${n}` }))
  await ask('POST /spiders/long/seeds', { body: { seeds } })
  const found: string[] = []
  for (let cursor = ''; ; ) {
    const { told } = await ask(`GET /spiders/long/seeds?limit=5${cursor && `&cursor=${cursor}`}`)
    expect(told.error).toBeUndefined()
    found.push(...told.data.map(({ url }: { url: string }) => url))
    if (told.next === null) break
    cursor = encodeURIComponent(told.next)
  }
  // Seeds of one call are stored by key, so only which there are is certain.
  expect(found.toSorted()).toEqual(seeds.map(({ url }) => url).toSorted())
})

test('10,000 URLs are taken in one call, each with a verdict, and the inbox holds those that can be crawled', async () => {
  const urls: unknown[] = Array.from({ length: 9_994 }, (_, n) => `https://example.com/${n}`)
  urls.push(
    'https://example.com/1',
    'not a url',
    { url: 'https://example.com/x', spider: 'nobody' },
    { url: 'https://example.com/x', priority: 5, meta: { id: '🕷' } },
    { url: 'https://example.com/y', priority: 5000 },
    'https://example.com/a\nhttps://example.com/b',
  )
  const before = await services.redis.llen(queue)
  const { status, told } = await ask(`POST /queues/${queue}/urls`, { body: { urls } })
  expect(status).toBe(200)
  expect(told.verdicts).toHaveLength(10_000)
  expect(told.verdicts.slice(-6).map(({ verdict }: { verdict: string }) => verdict)).toEqual([
    'repeated',
    'refused',
    'refused',
    'queued',
    'refused',
    'queued',
  ])
  expect(told.verdicts.filter(({ verdict }: { verdict: string }) => verdict === 'refused')).toSatisfy(
    (refused: { reason: string }[]) => refused.every(({ reason }) => reason.length > 10),
  )
  expect((await services.redis.llen(queue)) - before).toBe(told.queued)
  expect(told.queued).toBe(9_996)
  await services.redis.del(queue)
})
