import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import { Problem } from './problem'

/** How long a repetition gets the first answer. */
const DAY_MS = 86_400_000

interface Answer {
  status: number
  body: unknown
}
/** What Redis keeps of a request that is to be carried out once: what it was, and the answer once there is one. */
interface Kept extends Partial<Answer> {
  request: string
}

const KEY = /^[\x21-\x7e]{1,200}$/

/**
 * Carries a request out once for each Idempotency-Key of a sender: a repetition within a day gets the first answer. What was
 * refused may be sent again; a request whose answer was lost with this process is not repeated, since what became of it is unknown.
 * @param sender id of the API key; two senders may choose the same word.
 * @param content everything that makes the request what it is.
 * @throws Problem 400 for a malformed key, 409 while the first is under way, 422 for another request under a used key.
 */
export async function once(
  redis: Redis,
  { sender, key, content }: { sender: string; key: string; content: (string | Uint8Array)[] },
  work: () => Promise<Answer>,
): Promise<Answer & { repeated: boolean }> {
  if (!KEY.test(key))
    throw new Problem(
      400,
      'input',
      'An Idempotency-Key has 1 to 200 visible ASCII characters; a UUID will do.',
    )
  const name = `orbweaver:once:${sender}:${key}`
  const hash = createHash('sha256')
  for (const part of content) hash.update(part).update('\0')
  const request = hash.digest('base64url')
  const claimed = await redis.set(name, JSON.stringify({ request } satisfies Kept), 'PX', DAY_MS, 'NX')
  if (claimed === null) {
    const before = JSON.parse((await redis.get(name)) ?? 'null') as Kept | null
    if (before && before.request !== request)
      throw new Problem(
        422,
        'idempotency_key_used',
        'This Idempotency-Key was used for another request; take a new one for each thing to be done.',
      )
    if (before?.status === undefined)
      throw new Problem(
        409,
        'idempotency_key_busy',
        'The first request with this Idempotency-Key has no answer yet; ask again later. If that stays so, its answer was lost: look what became of it, and take a new key.',
        { 'retry-after': '2' },
      )
    return { status: before.status, body: before.body, repeated: true }
  }
  let answer: Answer
  try {
    answer = await work()
  } catch (error) {
    await redis.del(name)
    throw error
  }
  await redis.set(name, JSON.stringify({ request, ...answer } satisfies Kept), 'PX', DAY_MS)
  return { ...answer, repeated: false }
}
