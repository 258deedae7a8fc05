import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { env } from './env'
import { UserError } from './errors'

/** Of what is sealed: how, so that a later way can be told from this one. */
const VERSION = 'v1'
const NONCE = 12
const TAG = 16

/** What is sealed; each kind has a key of its own, so that none can be passed off as another. */
export type Sealed = 'alert channels' | 'spider credentials' | 'proxies'

/** The first seals; all of them open. */
function secrets(): string[] {
  const { SECRETS_KEY, SECRETS_KEYS_OLD, AUTH_SECRET } = env()
  const found = [SECRETS_KEY, ...(SECRETS_KEYS_OLD?.split(',') ?? []), AUTH_SECRET]
  return found.flatMap((secret) => (secret?.trim() ? [secret.trim()] : []))
}

function keys(kind: Sealed): Buffer[] {
  const found = secrets()
  if (found.length === 0)
    throw new UserError(
      `Neither SECRETS_KEY nor AUTH_SECRET is set here, so the secrets of ${kind} can be neither kept nor read; give this program the same SECRETS_KEY as the console.`,
    )
  return found.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', `orbweaver ${kind}`, 32)))
}

/**
 * Encrypts what may be read by nobody who reads the database (AES-256-GCM, with a key made from SECRETS_KEY, or else from
 * AUTH_SECRET).
 * @param place what it belongs to; moved to another place it does not open.
 * @throws UserError without either.
 */
export function seal(kind: Sealed, value: unknown, place = ''): string {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', keys(kind)[0]!, nonce).setAAD(Buffer.from(place))
  const text = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()])
  return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')}`
}

/** @throws UserError when it was sealed with a key that is not at hand, for another place, or changed since. */
export function unseal(kind: Sealed, sealed: string, place = ''): unknown {
  const bytes = Buffer.from(sealed.slice(VERSION.length + 1), 'base64url')
  for (const key of keys(kind)) {
    const text = opened(bytes, key, place)
    if (text !== null) return JSON.parse(text)
  }
  throw new UserError(
    `The secrets of ${kind} were sealed with another SECRETS_KEY or AUTH_SECRET; give all programs the same ones, name the earlier key in SECRETS_KEYS_OLD, or enter the secrets again.`,
  )
}

function opened(bytes: Buffer, key: Buffer, place: string): string | null {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE)).setAAD(Buffer.from(place))
    decipher.setAuthTag(bytes.subarray(NONCE, NONCE + TAG))
    return Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]).toString('utf8')
  } catch {
    return null
  }
}
