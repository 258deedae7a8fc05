import { setTimeout as sleep } from 'node:timers/promises'
import { sentence, UserError } from '../../core/errors'
import type { Services } from '../context'

/** Entries sent in one command. */
const CHUNK = 1000
/** Longest entry, in bytes: anything longer is refused here rather than by a worker later. */
const ENTRY_BYTES = 65_536
/** How often a full or absent Redis is asked again before giving up, with up to 5 s between. */
const TRIES = 60

/**
 * Pushes URLs (or JSON entries) to a queue's inbox, as fast as Redis takes them and no faster: the next chunk is read
 * when the one before has arrived, so the sender's memory stays small, and a full Redis makes it wait. After a lost
 * reply a chunk is sent again; the frontier drops what it has seen.
 * @returns how many entries were pushed.
 * @throws UserError for an entry over 64 KiB, or the last error when Redis stays away for some five minutes.
 */
export async function enqueue(
  s: Services,
  queue: string,
  urls: Iterable<string> | AsyncIterable<string>,
  onProgress: (pushed: number) => void = () => {},
): Promise<number> {
  let pushed = 0
  let chunk: string[] = []
  const flush = async () => {
    if (chunk.length === 0) return
    await push(s, queue, chunk)
    pushed += chunk.length
    chunk = []
    onProgress(pushed)
  }
  for await (const line of urls) {
    const entry = line.trim()
    if (entry === '') continue
    if (Buffer.byteLength(entry) > ENTRY_BYTES) {
      await flush()
      throw new UserError(
        `Entry ${pushed + 1} is longer than ${ENTRY_BYTES / 1024} KiB; the ${pushed} before it are queued. Shorten it and send the rest.`,
      )
    }
    if (chunk.push(entry) === CHUNK) await flush()
  }
  await flush()
  return pushed
}

async function push(s: Services, queue: string, entries: string[]): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await s.redis.rpush(queue, ...entries)
      return
    } catch (error) {
      if (attempt === TRIES || /^WRONGTYPE|^NOAUTH|^NOPERM/.test(sentence(error))) throw error
      s.log.warn({ queue, reason: sentence(error) }, 'the inbox does not take entries now; trying again')
      await sleep(Math.min(5000, 100 * 2 ** attempt))
    }
  }
}
