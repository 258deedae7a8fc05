import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { env } from '../../core/env'
import { UserError } from '../../core/errors'

/** Of what is sealed: how, so that a later way can be told from this one. */
const VERSION = 'v1'
const NONCE = 12
const TAG = 16

/** @throws UserError without AUTH_SECRET. */
function key(): Buffer {
  const secret = env().AUTH_SECRET
  if (!secret)
    throw new UserError(
      'AUTH_SECRET is not set here, so the secrets of channels can be neither kept nor read; give the scheduler the same AUTH_SECRET as the console.',
    )
  return Buffer.from(hkdfSync('sha256', secret, '', 'orbweaver alert channels', 32))
}

/** Encrypts what only the sender of messages may read (AES-256-GCM, with a key made from AUTH_SECRET). */
export function seal(value: unknown): string {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', key(), nonce)
  const text = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()])
  return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')}`
}

/** @throws UserError when it was sealed with another AUTH_SECRET, or changed since. */
export function unseal(sealed: string): unknown {
  const bytes = Buffer.from(sealed.slice(VERSION.length + 1), 'base64url')
  try {
    const decipher = createDecipheriv('aes-256-gcm', key(), bytes.subarray(0, NONCE))
    decipher.setAuthTag(bytes.subarray(NONCE, NONCE + TAG))
    return JSON.parse(
      Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]).toString('utf8'),
    )
  } catch (cause) {
    if (cause instanceof UserError) throw cause
    throw new UserError(
      'The secrets of this channel were sealed with another AUTH_SECRET; enter them again, and give console and scheduler the same AUTH_SECRET.',
      undefined,
      { cause },
    )
  }
}
