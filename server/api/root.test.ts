import { TRPCError } from '@trpc/server'
import { fetchRequestHandler } from '@trpc/server/adapters/fetch'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Unavailable, UserError } from '../../core/errors'
import { consoleServices, requestOf, someone } from '../../tests/console-services'
import type { Services } from '../context'
import { ensureDefaultSpider } from '../services/spiders'
import { appRouter } from './root'
import { createCaller, publicError } from './trpc'

let services: Services
let end: () => Promise<void>

beforeAll(async () => {
  ;({ services, end } = await consoleServices())
})
afterAll(() => end())

const told = (cause: unknown) => {
  let recorded = false
  const error = publicError(
    new TRPCError({ code: 'INTERNAL_SERVER_ERROR', cause }),
    () => {
      recorded = true
    },
    'abc',
  )
  return { code: error.code, message: error.message, recorded }
}

test('a person’s mistake is told in its own sentence, and an absent server as such', () => {
  expect(told(new UserError('The queue "x" is unknown; name another.'))).toEqual({
    code: 'BAD_REQUEST',
    message: 'The queue "x" is unknown; name another.',
    recorded: false,
  })
  expect(told(new Unavailable('Redis does not answer; start it.')).code).toBe('SERVICE_UNAVAILABLE')
  expect(
    told(Object.assign(new Error('secret'), { code: 'ECONNREFUSED', syscall: 'connect' })),
  ).toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    message: expect.not.stringContaining('secret'),
  })
})

test('of a fault of ours the client hears only the request’s name, and the log everything', () => {
  expect(told(new Error('SELECT password FROM account'))).toEqual({
    code: 'INTERNAL_SERVER_ERROR',
    message: expect.stringMatching(/request abc/),
    recorded: true,
  })
})

test.each([
  ['runs.start', { url: 'no url' }, { code: 'url_malformed', values: { url: 'no url' } }],
  [
    'runs.start',
    { url: 'ftp://a.test/' },
    { code: 'url_scheme', values: { scheme: 'ftp:', url: 'ftp://a.test/' } },
  ],
  ['runs.start', { url: 'http://a:b@a.test/' }, { code: 'url_credentials', values: { host: 'a.test' } }],
  ['runs.start', { url: 'http://a.test/', queue: 'a b' }, { code: 'queue_name', values: { queue: 'a b' } }],
  ['runs.cancel', { id: 424242 }, { code: 'run_unknown', values: { id: '424242' } }],
  ['schedules.save', { cron: 'often' }, { code: 'cron_malformed', values: { cron: 'often' } }],
  ['schedules.save', { cron: '0 0 30 2 *' }, { code: 'cron_never', values: { cron: '0 0 30 2 *' } }],
  ['schedules.save', { zone: 'Mars' }, { code: 'zone_unknown', values: { zone: 'Mars' } }],
  ['schedules.save', { spider: 424242 }, { code: 'spider_unknown', values: { spider: '424242' } }],
  ['schedules.save', { id: 424242 }, { code: 'schedule_unknown', values: { id: '424242' } }],
])('what %s refuses of %j has a code and values for the console to word', async (path, input, fault) => {
  const { id: spider } = await ensureDefaultSpider(services)
  const schedule = { name: 'x', spider, queue: 'x', cron: '0 * * * *', zone: 'UTC' }
  const answer = await fetchRequestHandler({
    endpoint: '/api/trpc',
    req: new Request(`http://x/api/trpc/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(path === 'schedules.save' ? { ...schedule, ...input } : input),
    }),
    router: appRouter,
    createContext: () => requestOf(services, someone('admin')),
  })
  expect(answer.status).toBe(400)
  const { error } = (await answer.json()) as { error: { message: string; data: object } }
  expect(error.data).toMatchObject({ code: 'BAD_REQUEST', fault })
  expect(error.message).toMatch(/\.$/)
})

test('a run from one URL begins in the configured queue, and a bad URL is refused with its reason', async () => {
  const caller = createCaller(appRouter)(requestOf(services, someone('operator')))
  const { id } = await caller.runs.start({ url: 'https://example.com/' })
  expect(await caller.runs.get({ id })).toMatchObject({
    spider: 'default',
    startedBy: 'operator@example.com',
    state: 'seeding',
  })
  await expect(caller.runs.start({ url: 'ftp://example.com/' })).rejects.toMatchObject({
    code: 'BAD_REQUEST',
    message: expect.stringContaining('ftp://example.com/'),
  })
  await expect(caller.runs.get({ id: id + 1000 })).rejects.toMatchObject({ code: 'NOT_FOUND' })
})
