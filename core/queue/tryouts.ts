import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import type { Redis } from 'ioredis'
import { UserError } from '../errors'
import { BLOCK_SECONDS } from '../redis'
import type { TryoutAnswer, TryoutRequest } from '../tryout'
import * as keys from './keys'
import { classed } from './script'

const pack = promisify(deflateRaw)
const unpack = promisify(inflateRaw)

/** How long a trial and its page are kept after they were last asked for. */
const KEEP_MS = 600_000
/** How long one that nobody takes waits. */
const WAIT_MS = 60_000
/** Trials that wait on one queue at a time. */
export const MOST_WAITING = 20
/** Pages that one queue keeps; the oldest goes first. */
const MOST_KEPT = 20
/** Bytes of a page that are kept. */
export const MOST_KEPT_BYTES = 4_000_000
/** A worker that says nothing for so long has lost what it had in hand. */
const HELD_MS = 8_000
/** Between two signs of life. */
export const HOLD_AGAIN_MS = 2_000

export interface TakenTryout {
  id: string
  request: TryoutRequest
}

/** `lost`: the worker that had it is gone. `unknown`: there is none, or another person's. */
export type TryoutState =
  | { state: 'waiting' | 'running' | 'lost' | 'unknown' }
  | { state: 'done'; answer: TryoutAnswer }

/** What of a page is kept beside its body. */
export interface KeptHead {
  url: string
  finalUrl: string
  contentType: string | null
  headers: Record<string, string>
  /** Null for what is no text. */
  charset: string | null
}

/**
 * Trials of single URLs, beside the frontier: a request waits in a list until a worker of the queue takes it, and its answer
 * lies in Redis for some minutes. Nothing of it must survive: what is lost is asked for again, by the person who sees that.
 * All are bounded in number and size. Every method throws `Unavailable` when Redis does not answer.
 */
export class Tryouts {
  constructor(
    private readonly redis: Redis,
    readonly queue: string,
  ) {}

  /**
   * @param person who alone may read the answer.
   * @returns the trial's id, which nobody can guess.
   * @throws UserError when too many wait already.
   */
  async ask(person: string, request: TryoutRequest): Promise<string> {
    const id = randomBytes(16).toString('hex')
    const list = keys.tryoutsKey(this.queue)
    await this.#plain(async () => {
      if ((await this.redis.llen(list)) >= MOST_WAITING)
        throw new UserError(
          `${MOST_WAITING} trials wait on ${this.queue} already; ask again when they are done.`,
          { code: 'tryout_busy', values: { queue: this.queue } },
        )
      const key = keys.tryoutKey(this.queue, id)
      const asked = this.redis
        .multi()
        .hset(key, { person, request: JSON.stringify(request), state: 'waiting' })
        .pexpire(key, KEEP_MS)
      if (request.kind === 'fetch') asked.zadd(keys.tryoutsKeptKey(this.queue), Date.now(), id)
      await asked.rpush(list, id).pexpire(list, WAIT_MS).exec()
      if (request.kind === 'fetch') await this.#forgetOldest()
    })
    return id
  }

  /** The next trial that waits, for a worker; null when none came in some seconds. @param blocking a connection for this alone. */
  async take(blocking: Redis): Promise<TakenTryout | null> {
    const [, id] = (await blocking.blpop(keys.tryoutsKey(this.queue), BLOCK_SECONDS)) ?? []
    if (id === undefined) return null
    const key = keys.tryoutKey(this.queue, id)
    return this.#plain(async () => {
      const request = await this.redis.hget(key, 'request')
      if (request === null) return null
      await this.hold([id])
      await this.redis.multi().hset(key, 'state', 'running').pexpire(key, KEEP_MS).exec()
      return { id, request: JSON.parse(request) as TryoutRequest }
    })
  }

  /** Says that these are still being worked on. */
  async hold(ids: string[]): Promise<void> {
    const all = this.redis.multi()
    for (const id of ids) all.set(keys.tryoutHeldKey(this.queue, id), '1', 'PX', HELD_MS)
    await this.#plain(() => all.exec())
  }

  /** @param kept the page's head and body, of which `MOST_KEPT_BYTES` are kept. */
  async answer(id: string, answer: TryoutAnswer, kept?: { head: KeptHead; body: Buffer }): Promise<void> {
    const key = keys.tryoutKey(this.queue, id)
    const body = kept && (await pack(kept.body.subarray(0, MOST_KEPT_BYTES)))
    await this.#plain(async () => {
      // Forgotten meanwhile: nobody asks for it, and a key made now would have no end.
      if ((await this.redis.exists(key)) === 0) return
      await this.redis
        .multi()
        .hset(key, {
          state: 'done',
          answer: JSON.stringify(answer),
          ...(kept && body && { head: JSON.stringify(kept.head), body }),
        })
        .pexpire(key, KEEP_MS)
        .del(keys.tryoutHeldKey(this.queue, id))
        .exec()
    })
  }

  /** How far a trial is, to the person who asked for it. */
  async read(id: string, person: string): Promise<TryoutState> {
    return this.#plain(async () => {
      // Together, or an answer that comes in between would look like a loss.
      const replies = await this.redis
        .multi()
        .hmget(keys.tryoutKey(this.queue, id), 'person', 'state', 'answer')
        .exists(keys.tryoutHeldKey(this.queue, id))
        .exec()
      const [owner, state, answer] = replies![0]![1] as (string | null)[]
      const held = replies![1]![1] === 1
      if (owner !== person) return { state: 'unknown' }
      if (state === 'done') return { state, answer: JSON.parse(answer!) as TryoutAnswer }
      if (state === 'running') return { state: held ? 'running' : 'lost' }
      return { state: 'waiting' }
    })
  }

  /** Whether a person asked for this trial, which is then kept for some minutes more. */
  async owns(id: string, person: string): Promise<boolean> {
    const key = keys.tryoutKey(this.queue, id)
    return this.#plain(async () => {
      if ((await this.redis.hget(key, 'person')) !== person) return false
      await this.redis.pexpire(key, KEEP_MS)
      return true
    })
  }

  /** The page of a trial; null when none is kept. Whether the reader may have it is `owns`'s to say. */
  async page(id: string): Promise<{ head: KeptHead; body: Buffer } | null> {
    const key = keys.tryoutKey(this.queue, id)
    const [head, body] = await this.#plain(() =>
      Promise.all([this.redis.hget(key, 'head'), this.redis.hgetBuffer(key, 'body')]),
    )
    if (head === null || body === null) return null
    return {
      head: JSON.parse(head) as KeptHead,
      body: await unpack(body, { maxOutputLength: MOST_KEPT_BYTES }),
    }
  }

  async forget(id: string): Promise<void> {
    await this.#plain(() => this.redis.unlink(keys.tryoutKey(this.queue, id)))
  }

  async #forgetOldest(): Promise<void> {
    const kept = keys.tryoutsKeptKey(this.queue)
    const old = await this.redis.zrange(kept, '0', String(-MOST_KEPT - 1))
    const all = this.redis.multi().pexpire(kept, KEEP_MS)
    if (old.length > 0) all.zrem(kept, ...old).unlink(old.map((id) => keys.tryoutKey(this.queue, id)))
    await all.exec()
  }

  async #plain<T>(command: () => Promise<T>): Promise<T> {
    try {
      return await command()
    } catch (error) {
      throw classed(error, 'a trial')
    }
  }
}
