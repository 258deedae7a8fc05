import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { setEnv } from '../../core/env'
import { seal, unseal } from '../../core/seal'
import en from '../../messages/en.json'
import type { AlertMessage } from './announce'
import { CHANNELS, type ChannelKind } from './channels'
import { writeLetter } from './letter'
import { RULE_KINDS } from './rules'
import { send } from './send'
import { SECRET, startMailServer, startServices, TOKEN } from './services-fixture'

const PASSWORD = 'pass-word-of-mail'
let services: Awaited<ReturnType<typeof startServices>>
let mail: Awaited<ReturnType<typeof startMailServer>>
beforeAll(async () => {
  services = await startServices()
  mail = await startMailServer(PASSWORD)
})
afterAll(() => Promise.all([services.close(), mail.close()]))
beforeEach(() => {
  services.taken.length = 0
  services.state.fail = null
  setEnv({
    ALERTS_ALLOW_PRIVATE: 'true',
    PUBLIC_URL: 'https://crawl.example.com',
    TZ: 'Asia/Shanghai',
    AUTH_SECRET: 'of-this-test-run-only-0123456789abcdef',
  })
})

const message: AlertMessage = {
  event: 'firing',
  alert: 7,
  rule: 'blocked',
  subject: 'all',
  figure: 31,
  threshold: 20,
  windowMinutes: 60,
  // A host is whatever a page says: it must mean nothing to a chat.
  facts: { hosts: '<!channel>&<https://evil.test|click>.test (31)' },
  startedAt: Date.UTC(2026, 0, 5, 4, 0, 0),
  endedAt: null,
}
const letter = (more: Partial<AlertMessage> = {}, language: 'en' | 'zh-CN' = 'en', at = Date.now()) =>
  writeLetter({ key: 'alert-7-firing-1', message: { ...message, ...more } }, { name: 'Team', language }, at)

const settings = (kind: ChannelKind): Record<string, unknown> => {
  const { address } = services
  switch (kind) {
    case 'webhook':
      return { url: `${address}/webhook`, secret: SECRET }
    case 'dingtalk':
      return { url: `${address}/dingtalk?access_token=abc`, secret: SECRET }
    case 'telegram':
      return { server: address, token: TOKEN, chat: '-1001' }
    case 'email':
      return {
        host: '127.0.0.1',
        port: mail.port,
        security: 'none',
        user: 'me',
        password: PASSWORD,
        from: 'crawler@example.com',
        to: ['team@example.com'],
      }
    case 'feishu':
      return { url: `${address}/feishu`, secret: SECRET }
    default:
      return { url: `${address}/${kind}` }
  }
}
const kinds = Object.keys(CHANNELS) as ChannelKind[]

test.each(kinds)(
  '%s: a message is taken by the strict service, and its settings fit their schema',
  async (kind) => {
    expect(CHANNELS[kind].schema.safeParse(settings(kind)).success).toBe(true)
    for (const language of ['en', 'zh-CN'] as const) {
      const sent = await send(kind, settings(kind), letter({}, language))
      expect(sent).toMatchObject({ taken: true, answer: expect.any(String) })
    }
    const got = kind === 'email' ? mail.mails.splice(0) : services.taken.map(({ body }) => body)
    expect(got).toHaveLength(2)
  },
)

test.each<[ChannelKind, Record<string, unknown>, RegExp]>([
  ['webhook', { secret: 'another-secret-0000' }, /^HTTP 401: bad signature$/],
  ['slack', { url: '/nowhere' }, /^HTTP 404: not found$/],
  ['dingtalk', { secret: 'SECwrong' }, /^310000: sign not match$/],
  ['feishu', { secret: 'wrong' }, /^19021: sign match fail/],
  ['wecom', { url: '/nowhere' }, /^HTTP 404: not found$/],
  ['telegram', { chat: '-2' }, /^400: Bad Request: chat not found$/],
  ['email', { password: 'wrong-password' }, /535 5\.7\.8 wrong user or password/],
])('%s: what the service refuses is told in its own words', async (kind, wrong, answer) => {
  const url = typeof wrong.url === 'string' ? { url: services.address + wrong.url } : {}
  const sent = await send(kind, { ...settings(kind), ...wrong, ...url }, letter())
  expect(sent.taken).toBe(false)
  expect(sent.answer).toMatch(answer)
})

test.each(kinds.filter((kind) => kind !== 'email'))(
  '%s: is sent to no private address unless the setting allows it, and no secret is in the answer',
  async (kind) => {
    setEnv({ ALERTS_ALLOW_PRIVATE: 'false' })
    const { taken, answer } = await send(kind, settings(kind), letter())
    expect(taken).toBe(false)
    expect(answer).toMatch(/not public; set ALERTS_ALLOW_PRIVATE=true/)
    expect(services.taken).toEqual([])
  },
)

test('an answer that repeats a secret is told without it', async () => {
  services.state.fail = { status: 500, body: `{"ok":false,"error_code":500,"description":"no bot ${TOKEN}"}` }
  const { answer } = await send('telegram', settings('telegram'), letter())
  expect(answer).toBe('500: no bot ***')
})

test('a redirect is not followed', async () => {
  services.state.fail = { status: 302, body: '' }
  expect(await send('webhook', settings('webhook'), letter())).toMatchObject({
    taken: false,
    answer: 'HTTP 302: ',
  })
})

test('a host that looks like a mark of the chat stays text', async () => {
  await send('slack', settings('slack'), letter())
  const body = JSON.parse(services.taken[0]!.body)
  expect(body.text).not.toContain('<')
  expect(body.blocks[1].text).toMatchObject({
    type: 'plain_text',
    text: expect.stringContaining('<!channel>'),
  })
})

test('a message is cut to what a service takes, and keeps its link', async () => {
  const long = letter({ facts: { hosts: '很长的主机名'.repeat(800) } }, 'zh-CN')
  for (const kind of ['wecom', 'telegram', 'dingtalk'] as const)
    expect(await send(kind, settings(kind), long)).toMatchObject({ taken: true })
  for (const { body } of services.taken) expect(body).toContain('https://crawl.example.com/')
})

test.each(RULE_KINDS)(
  '%s: the message has figure, unit, threshold, time and a link, in both languages',
  (rule) => {
    const share = rule === 'success_rate' || rule === 'redis_memory'
    const values = {
      rule,
      figure: share ? 0.9437 : 1234,
      threshold: share ? 0.95 : 20,
      subject: 'queue:q',
      windowMinutes: 60,
    }
    const facts = Object.fromEntries(
      [...JSON.stringify(en.alertText.said).matchAll(/\{(\w+)/g)].map(([, name]) => [name, 5]),
    )
    for (const language of ['en', 'zh-CN'] as const) {
      const { title, text, link } = letter({ ...values, facts }, language)
      // 94.37 % must not be told as 94.4, nor 94.96 as 95.
      expect(text).toContain(share ? '94.3%' : '1,234')
      expect(text).toContain(share ? '95%' : '20')
      expect(text).toMatch(
        language === 'en' ? /Since Jan 5, 2026.*12:00:00/ : /开始于 2026年1月5日.*12:00:00/,
      )
      expect(title).toMatch(/^\[Orbweaver\] \S/)
      expect(`${title} ${text}`).not.toMatch(/alertText|undefined|\{/)
      expect(link).toBe('https://crawl.example.com/queues/q')
      const over = letter(
        { ...values, facts, event: 'resolved', endedAt: message.startedAt + 600_000 },
        language,
      )
      expect(over.text).toMatch(language === 'en' ? /It lasted 10 minutes/ : /10 分钟/)
    }
  },
)

test('secrets are sealed with a key from AUTH_SECRET: another one, or a changed byte, opens nothing', () => {
  const sealed = seal('alert channels', { url: 'https://hooks.example/secret' })
  expect(sealed).not.toContain('secret')
  expect(unseal('alert channels', sealed)).toEqual({ url: 'https://hooks.example/secret' })
  expect(seal('alert channels', { url: 'https://hooks.example/secret' })).not.toBe(sealed)
  const changed = sealed.slice(0, -2) + (sealed.endsWith('AA') ? 'BB' : 'AA')
  expect(() => unseal('alert channels', changed)).toThrow(/another SECRETS_KEY or AUTH_SECRET/)
  setEnv({ AUTH_SECRET: 'another-secret-of-32-characters-0000' })
  expect(() => unseal('alert channels', sealed)).toThrow(/another SECRETS_KEY or AUTH_SECRET/)
})
