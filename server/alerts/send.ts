import { env } from '../../core/env'
import { sentence } from '../../core/errors'
import { postOnce } from '../post-once'
import type { ChannelRequest, HttpChannel, Letter } from './channel'
import { cut } from './channel'
import { CHANNELS, type ChannelKind } from './channels'
import { type EmailSettings, email } from './channels/email'

const TIMEOUT_MS = 10_000
/** No answer that means something is longer. */
const MOST_CHARACTERS = 16_384

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

const post = (request: ChannelRequest) =>
  postOnce(
    { ...request, headers: { 'user-agent': 'Orbweaver alerts', ...request.headers } },
    {
      allowPrivate: env().ALERTS_ALLOW_PRIVATE,
      remedy: 'set ALERTS_ALLOW_PRIVATE=true for console and scheduler if that is meant.',
      timeoutMs: TIMEOUT_MS,
      most: MOST_CHARACTERS,
    },
  )

function withoutSecrets(text: string, kind: ChannelKind, settings: Record<string, unknown>): string {
  const secrets = CHANNELS[kind].secret
    .map((name) => settings[name])
    .filter((value) => typeof value === 'string')
  return secrets.reduce((clean: string, value) => (value ? clean.replaceAll(value, '***') : clean), text)
}
