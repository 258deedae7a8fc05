import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import net, { type AddressInfo } from 'node:net'

/** What a stand-in got that it had nothing to complain of. */
export interface Taken {
  path: string
  headers: IncomingMessage['headers']
  body: string
}

type Service = (taken: Taken) => { status: number; body: string }
const json = (value: unknown, status = 200) => ({ status, body: JSON.stringify(value) })
const hmac = (key: string, text: string, encoding: 'base64' | 'hex') =>
  createHmac('sha256', key).update(text).digest(encoding)

export const SECRET = 'SEC0123456789abcdef'
export const TOKEN = '123456:AAE-abcdefghijklmnopqrstuvwxyz'

/**
 * The services of the channels as their manuals describe them, each as strict as the real one: the right path, fields and no
 * others, signatures that are checked and hold for minutes, and the answers that the real one gives.
 */
export const SERVICES: Record<string, Service> = {
  '/webhook': ({ headers, body }) => {
    const [, time, mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-orbweaver-signature'])) ?? []
    const fresh = Math.abs(Date.now() / 1000 - Number(time)) < 300
    return fresh && mac === hmac(SECRET, `${time}.${body}`, 'hex')
      ? { status: 204, body: '' }
      : { status: 401, body: 'bad signature' }
  },
  '/slack': ({ body }) => {
    const { text, blocks, ...rest } = JSON.parse(body)
    const whole =
      typeof text === 'string' &&
      blocks.every(
        (block: { type: string; text: { text: string } }) => block.type === 'section' && block.text.text,
      ) &&
      Object.keys(rest).length === 0
    return whole ? { status: 200, body: 'ok' } : { status: 400, body: 'invalid_payload' }
  },
  '/dingtalk': ({ path, body }) => {
    const query = new URL(path, 'http://x').searchParams
    const time = query.get('timestamp') ?? ''
    if (query.get('access_token') !== 'abc') return json({ errcode: 300005, errmsg: 'token is not exist' })
    if (Math.abs(Date.now() - Number(time)) > 3_600_000)
      return json({ errcode: 310000, errmsg: 'invalid timestamp' })
    if (query.get('sign') !== hmac(SECRET, `${time}\n${SECRET}`, 'base64'))
      return json({ errcode: 310000, errmsg: 'sign not match' })
    const { msgtype, text } = JSON.parse(body)
    return msgtype === 'text' && text.content
      ? json({ errcode: 0, errmsg: 'ok' })
      : json({ errcode: 400, errmsg: 'wrong msgtype' })
  },
  '/feishu': ({ body }) => {
    const { timestamp, sign, msg_type, content } = JSON.parse(body)
    if (
      Math.abs(Date.now() / 1000 - Number(timestamp)) > 3600 ||
      sign !== hmac(`${timestamp}\n${SECRET}`, '', 'base64')
    )
      return json({
        code: 19021,
        msg: 'sign match fail or timestamp is not within one hour from current time',
      })
    const post = content?.post?.zh_cn
    return msg_type === 'post' && post?.title && post.content[1][0].href
      ? json({ code: 0, msg: 'success', data: {} })
      : json({ code: 9499, msg: 'Bad Request' })
  },
  '/wecom': ({ body }) => {
    const { msgtype, text } = JSON.parse(body)
    if (Buffer.byteLength(text?.content ?? '') > 2048)
      return json({ errcode: 40058, errmsg: 'content exceed max length' })
    return msgtype === 'text'
      ? json({ errcode: 0, errmsg: 'ok' })
      : json({ errcode: 40008, errmsg: 'invalid message type' })
  },
  [`/bot${TOKEN}/sendMessage`]: ({ body }) => {
    const { chat_id, text } = JSON.parse(body)
    if (chat_id !== '-1001')
      return json({ ok: false, error_code: 400, description: 'Bad Request: chat not found' }, 400)
    return text.length <= 4096
      ? json({ ok: true, result: { message_id: 1 } })
      : json({ ok: false, error_code: 400, description: 'Bad Request: message is too long' }, 400)
  },
}

/** A server on loopback that is all of these services. `fail` makes it answer otherwise as long as it is set. */
export async function startServices() {
  const taken: Taken[] = []
  const state: { fail: { status: number; body: string } | null } = { fail: null }
  const server = createServer(async (request, answer) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const path = request.url ?? ''
    const service = SERVICES[path.split('?')[0]!]
    const isJson = /^application\/json/.test(request.headers['content-type'] ?? '')
    const got = { path, headers: request.headers, body }
    const reply =
      state.fail ??
      (request.method !== 'POST' || !service || !isJson ? { status: 404, body: 'not found' } : service(got))
    if (!state.fail) taken.push(got)
    answer.writeHead(reply.status, { 'content-type': 'application/json' }).end(reply.body)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    taken,
    state,
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

/** A mail server that asks for a password and keeps what it is sent. */
export async function startMailServer(password: string) {
  const mails: string[] = []
  const server = net.createServer((socket) => {
    let mail: string | null = null
    let signedIn = false
    let rest = ''
    const say = (line: string) => socket.write(`${line}\r\n`)
    say('220 mail.test ESMTP')
    socket.on('error', () => {})
    socket.setEncoding('utf8').on('data', (chunk) => {
      rest += chunk
      for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
        const line = rest.slice(0, end)
        rest = rest.slice(end + 2)
        if (mail !== null) {
          if (line === '.') {
            mails.push(mail)
            mail = null
            say('250 2.0.0 queued as 42')
          } else mail += `${line}\n`
        } else if (/^EHLO /.test(line)) socket.write('250-mail.test\r\n250 AUTH PLAIN\r\n')
        else if (/^AUTH PLAIN /.test(line)) {
          signedIn = Buffer.from(line.slice(11), 'base64').toString() === `\0me\0${password}`
          say(signedIn ? '235 2.7.0 welcome' : '535 5.7.8 wrong user or password')
        } else if (/^(MAIL FROM|RCPT TO):<[^>]+@[^>]+>/.test(line))
          say(signedIn ? '250 ok' : '530 sign in first')
        else if (line === 'DATA') {
          mail = ''
          say('354 go on')
        } else if (line === 'QUIT') {
          say('221 bye')
          socket.end()
        } else say('500 what?')
      }
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    mails,
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
