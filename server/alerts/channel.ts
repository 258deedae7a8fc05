import { z } from 'zod'
import type { AlertMessage } from './announce'

/** A message as a channel gets it: in words, with what a program needs beside them. */
export interface Letter {
  /** Names the message; a repetition of it carries the same. */
  key: string
  message: AlertMessage
  title: string
  /** One or more sentences, a line each. */
  text: string
  /** Address of the matter in the console, and what the link says. */
  link: string
  linkText: string
  /** When it is sent, ms since 1970: signatures hold for minutes only. */
  at: number
}

export interface ChannelRequest {
  url: string
  headers: Record<string, string>
  body: string
}

/**
 * A kind of channel that takes HTTP requests: what it has to know, how a message becomes a request, and whether the answer says
 * that it was taken. Both functions are pure.
 */
export interface HttpChannel<Settings> {
  schema: z.ZodType<Settings>
  /** Names of settings that are kept encrypted and never shown again. */
  secret: readonly (keyof Settings & string)[]
  /** What of the settings may be shown, to tell one channel from another. */
  shown(settings: Settings): string
  request(letter: Letter, settings: Settings): ChannelRequest
  /** @returns why the message was not taken, in the other side's words; null when it was. */
  refusal(status: number, body: string): string | null
}

/** Address of a service. Which of them may be connected to is decided when that is done. */
export const webAddress = z.url({ protocol: /^https?$/ }).max(2000)

export const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' }

/** The whole message as plain text, cut where a service would refuse it. */
export const plainText = ({ title, text, link }: Letter, most = 4000) =>
  [title, cut(text, most - title.length - link.length - 2), link].join('\n')

export const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text)

export const hostOf = (url: string) => new URL(url).host

/** For services that answer 200 whatever happens, and say in JSON how it went. */
export function refusalIn(
  status: number,
  body: string,
  told: (answer: Record<string, unknown>) => string | null,
): string | null {
  let answer: unknown
  try {
    answer = JSON.parse(body)
  } catch {
    return `HTTP ${status}: ${cut(body, 300)}`
  }
  if (typeof answer !== 'object' || answer === null) return `HTTP ${status}: ${cut(body, 300)}`
  return told(answer as Record<string, unknown>)
}
