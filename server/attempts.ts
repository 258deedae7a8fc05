import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'

/** One counter a subject and window; all web processes share it. The subject is hashed: an address is nobody's business. */
const key = (subject: string) =>
  `orbweaver:attempts:${createHash('sha256').update(subject).digest('base64url').slice(0, 32)}`

/**
 * Counts one attempt of `subject` (an account or a network address) and says whether it is among the first `max` of the
 * window that its first attempt opened. The window ends by itself: a stranger can slow an account's owner, not lock them out.
 * @returns `retryAfter` in seconds, when not allowed.
 */
export async function attempt(
  redis: Redis,
  subject: string,
  max: number,
  windowMs: number,
): Promise<{ allowed: boolean; retryAfter: number | null }> {
  const replies = await redis
    .multi()
    .set(key(subject), 0, 'PX', windowMs, 'NX')
    .incr(key(subject))
    .pttl(key(subject))
    .exec()
  const used = Number(replies?.[1]?.[1])
  const leftMs = Number(replies?.[2]?.[1])
  return used <= max
    ? { allowed: true, retryAfter: null }
    : { allowed: false, retryAfter: Math.max(1, Math.ceil(leftMs / 1000)) }
}

/** Forgets the attempts of a subject that has proved itself. */
export async function forgive(redis: Redis, subject: string): Promise<void> {
  await redis.del(key(subject))
}
