import { Agent, request } from 'undici'
import { guardedConnector } from '../../core/address-guard'
import { env } from '../../core/env'
import { sentence } from '../../core/errors'
import type { HttpChannel, Letter } from './channel'
import { cut } from './channel'
import { CHANNELS, type ChannelKind } from './channels'
import { type EmailSettings, email } from './channels/email'

const TIMEOUT_MS = 10_000
/** No answer that means something is longer, in bytes. */
const MOST_BYTES = 16_384

export interface Sent {
  taken: boolean
  /** In the words of the other side, or why there are none. Without the channel's secrets. */
  answer: string
  ms: number
}

/** Sends a message once, and tells how it went. Never throws: what goes wrong is an answer. */
export async function send(
  kind: ChannelKind,
  settings: Record<string, unknown>,
  letter: Letter,
): Promise<Sent> {
  const began = performance.now()
  const done = (taken: boolean, answer: string): Sent => ({
    taken,
    answer: cut(withoutSecrets(answer, kind, settings), 500),
    ms: Math.round(performance.now() - began),
  })
  try {
    if (kind === 'email')
      return done(true, await email.send(letter, settings as unknown as EmailSettings, TIMEOUT_MS))
    const channel = CHANNELS[kind] as unknown as HttpChannel<Record<string, unknown>>
    const { status, body } = await post(channel.request(letter, settings))
    const refused = channel.refusal(status, body)
    return done(refused === null, refused ?? `HTTP ${status}: ${body}`)
  } catch (error) {
    return done(false, sentence(error))
  }
}

/** Redirects are not followed: the address that was entered is the one that is meant. */
async function post({ url, headers, body }: { url: string; headers: Record<string, string>; body: string }) {
  const agent = new Agent({
    connect: guardedConnector({
      allowPrivate: env().ALERTS_ALLOW_PRIVATE,
      timeoutMs: TIMEOUT_MS,
      refuse: (host) =>
        new Error(
          `${host} is at an address that is not public; set ALERTS_ALLOW_PRIVATE=true for console and scheduler if that is meant.`,
        ),
    }),
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    pipelining: 0,
  })
  try {
    const answer = await request(url, {
      method: 'POST',
      headers: { 'user-agent': 'Orbweaver alerts', ...headers },
      body,
      dispatcher: agent,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    let text = ''
    for await (const chunk of answer.body.setEncoding('utf8')) {
      text += chunk
      if (text.length > MOST_BYTES) break
    }
    return { status: answer.statusCode, body: text }
  } finally {
    void agent.destroy()
  }
}

function withoutSecrets(text: string, kind: ChannelKind, settings: Record<string, unknown>): string {
  const secrets = CHANNELS[kind].secret
    .map((name) => settings[name])
    .filter((value) => typeof value === 'string')
  return secrets.reduce((clean: string, value) => (value ? clean.replaceAll(value, '***') : clean), text)
}
