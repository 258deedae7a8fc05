import { createHash } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Redis } from 'ioredis'
import { sentence } from '../core/errors'
import type { Log } from '../core/log'
import { robotsKey } from '../core/queue/keys'

/** Files of a usual size are a few hundred bytes when packed; a site of monsters must not fill the memory of Redis. */
const MAX_BYTES = 64 * 1024
/** RFC 9309 §2.3.1.3: what is read of a file. */
const MAX_PLAIN_BYTES = 600_000

export interface RobotsAnswer {
  status: number
  body: Buffer
}

/**
 * The answers for robots.txt that any worker of a queue got, for all of them: a site is asked once, not once a worker. What is kept here
 * may be lost at any time, and a Redis that does not answer only means that a site is asked once more.
 */
export class SharedRobots {
  constructor(
    private readonly redis: Redis,
    private readonly queue: string,
    private readonly log: Log,
  ) {}

  /** @returns the answer and for how many milliseconds it holds; null when nobody has it. */
  async get(origin: string, agent: string): Promise<(RobotsAnswer & { leftMs: number }) | null> {
    try {
      const key = this.#key(origin, agent)
      const [value, leftMs] = await Promise.all([this.redis.getBuffer(key), this.redis.pttl(key)])
      if (!value || leftMs <= 0) return null
      const body = inflateRawSync(value.subarray(2), { maxOutputLength: MAX_PLAIN_BYTES })
      return { status: value.readUInt16BE(0), body, leftMs }
    } catch (error) {
      this.#report(error)
      return null
    }
  }

  async set(origin: string, agent: string, { status, body }: RobotsAnswer, keepMs: number): Promise<void> {
    const head = Buffer.alloc(2)
    head.writeUInt16BE(status)
    // Of a file that says nothing (4xx) only that is worth keeping.
    const value = Buffer.concat([head, deflateRawSync(status < 300 ? body : Buffer.alloc(0))])
    if (value.length > MAX_BYTES) return
    await this.redis.set(this.#key(origin, agent), value, 'PX', keepMs).catch((error) => this.#report(error))
  }

  #key(origin: string, agent: string): string {
    return robotsKey(this.queue, createHash('sha1').update(`${origin} ${agent}`).digest('hex'))
  }

  #report(error: unknown): void {
    this.log.warn({ cause: sentence(error) }, 'robots.txt could not be shared with other workers')
  }
}
