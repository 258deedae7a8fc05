import { Agent, type Dispatcher, request } from 'undici'
import { guardedConnector } from '../core/address-guard'

export interface Post {
  url: string
  headers: Record<string, string>
  body: string | Buffer
}

export interface PostRules {
  /** Whether addresses that are not public may be connected to; `remedy` says how to allow it. */
  allowPrivate: boolean
  remedy: string
  /** For the connection, and for all of the answer. */
  timeoutMs: number
  /** What of the answer is read, in characters. */
  most: number
}

export interface PostAnswer {
  status: number
  headers: Dispatcher.ResponseData['headers']
  body: string
}

/**
 * A POST on a connection of its own, to an address that a person entered. Redirects are not followed: that address is the one that
 * is meant. @throws undici's errors, and one that names the remedy for an address that is refused.
 */
export async function postOnce({ url, headers, body }: Post, rules: PostRules): Promise<PostAnswer> {
  const { timeoutMs } = rules
  const agent = new Agent({
    connect: guardedConnector({
      allowPrivate: rules.allowPrivate,
      timeoutMs: Math.min(timeoutMs, 10_000),
      refuse: (host) => new Error(`${host} is at an address that is not public; ${rules.remedy}`),
    }),
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    pipelining: 0,
  })
  try {
    const answer = await request(url, {
      method: 'POST',
      headers,
      body,
      dispatcher: agent,
      signal: AbortSignal.timeout(timeoutMs),
    })
    let text = ''
    for await (const chunk of answer.body.setEncoding('utf8')) {
      text += chunk
      if (text.length > rules.most) break
    }
    return { status: answer.statusCode, headers: answer.headers, body: text }
  } finally {
    void agent.destroy()
  }
}
