import { createHmac } from 'node:crypto'

/**
 * The value of `X-Orbweaver-Signature` for a body: its time in seconds, and an HMAC-SHA-256 (hex) of `time.body`. By it a receiver
 * tells that a message is ours, and by the time in it that it is new.
 * @param at ms since 1970
 */
export function signBody(secret: string, body: string, at: number): string {
  const time = Math.floor(at / 1000)
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`
}
