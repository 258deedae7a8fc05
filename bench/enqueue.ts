import { createReadStream } from 'node:fs'
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { Queue } from '../core/queue/queue'
import type { Dedupe, NewTask } from '../core/queue/task'
import { ADMITTED_AT_ONCE } from '../core/queue/wire'
import { openRedis } from '../core/redis'
import { hostKey, urlId, webUrl } from '../core/url'

export interface EnqueueFigures {
  urls: number
  kind: 'exact' | 'bloom'
  seconds: number
  urlsPerSecond: number
  /** Seconds of processor time that Redis took; the rest is reading, canonicalising and hashing. */
  redisSeconds: number
  /** Redis memory taken by all of them, a URL. */
  bytesPerUrl: number
  /** Upper end of the histogram bucket that holds the slowest script. */
  slowestScriptMs: number
  /** Scripts of over 10 ms; must be 0. */
  slowScripts: number
  /** Times Redis wrote its append-only file anew meanwhile; it copies memory as it changes then, and scripts wait. */
  fileRewrites: number
}

const AT_ONCE = 4
const HOSTS = 1000

/**
 * Enqueues `n` distinct URLs of 1,000 hosts from a file, as an import does: line by line, canonicalised, a script's worth a call.
 * Uses a queue of its own on the given Redis, and removes it.
 */
export async function benchEnqueue(options: {
  redisUrl: string
  n: number
  kind: 'exact' | 'bloom'
  say: (message: string) => void
}): Promise<EnqueueFigures> {
  const { redisUrl, n, kind, say } = options
  const folder = await mkdtemp(join(tmpdir(), 'orbweaver-bench-'))
  const redis = await openRedis(redisUrl)
  const queue = new Queue(redis, `bench_${process.pid}_${kind}`)
  try {
    const file = join(folder, 'urls.txt')
    await writeUrls(file, n)
    say(`${n} URLs in a file of ${((await stat(file)).size / 2 ** 20).toFixed(0)} MiB; enqueuing (${kind})`)
    const dedupe: Dedupe = {
      scope: 'run',
      ...(kind === 'exact' ? { kind } : { kind, capacity: n, errorRate: 0.001 }),
    }
    await rewriteFile(redis)
    const before = {
      rewrites: await fileRewrites(redis),
      memory: await usedMemory(redis),
      calls: await scriptCalls(redis),
      slow: await slowest(redis),
    }
    await queue.openRun(1, { dedupe, maxPages: null })
    const start = performance.now()
    const admitted = await enqueueFile(queue, file)
    const seconds = (performance.now() - start) / 1000
    const calls = await scriptCalls(redis)
    const figures: EnqueueFigures = {
      urls: admitted,
      kind,
      seconds,
      urlsPerSecond: Math.round(n / seconds),
      redisSeconds: calls.seconds - before.calls.seconds,
      bytesPerUrl: Math.round(((await usedMemory(redis)) - before.memory) / admitted),
      slowestScriptMs: slowestBetween(before.calls.histogram, calls.histogram) / 1000,
      slowScripts: (await slowest(redis)).filter((id) => !before.slow.includes(id)).length,
      fileRewrites: (await fileRewrites(redis)) - before.rewrites,
    }
    say(
      `${figures.urlsPerSecond} URLs/s, ${figures.bytesPerUrl} bytes of Redis memory a URL, slowest script under ${figures.slowestScriptMs} ms`,
    )
    return figures
  } finally {
    for await (const found of redis.scanStream({ match: `*${queue.name}*`, count: 1000 }))
      if (found.length > 0) await redis.del(found)
    redis.disconnect()
    await rm(folder, { recursive: true, force: true })
  }
}

async function writeUrls(file: string, n: number): Promise<void> {
  const handle = await open(file, 'w')
  for (let from = 0; from < n; from += 10_000) {
    const lines = []
    for (let i = from; i < Math.min(from + 10_000, n); i++)
      lines.push(`https://www.site-${i % HOSTS}.example/catalogue/section-${i % 97}/product-${i}.html\n`)
    await handle.write(lines.join(''))
  }
  await handle.close()
}

async function enqueueFile(queue: Queue, file: string): Promise<number> {
  let admitted = 0
  let chunk: NewTask[] = []
  const inFlight = new Set<Promise<void>>()
  const send = async (tasks: NewTask[]) => {
    const reply = await queue.admit(1, tasks)
    admitted += reply.admitted
  }
  const flush = async () => {
    const sent: Promise<void> = send(chunk).finally(() => inFlight.delete(sent))
    inFlight.add(sent)
    chunk = []
    if (inFlight.size >= AT_ONCE) await Promise.race(inFlight)
  }
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const url = webUrl(line)
    chunk.push({ url, id: urlId(url), host: hostKey(url), depth: 0, priority: 0 })
    if (chunk.length === ADMITTED_AT_ONCE) await flush()
  }
  if (chunk.length > 0) await flush()
  await Promise.all(inFlight)
  return admitted
}

/** So that each kind begins with a small file, whatever went before. */
async function rewriteFile(redis: Redis): Promise<void> {
  if (!/aof_enabled:1/.test(await redis.info('persistence'))) return
  await redis.bgrewriteaof()
  while (/aof_rewrite_(in_progress|scheduled):1/.test(await redis.info('persistence'))) await sleep(100)
}

async function fileRewrites(redis: Redis): Promise<number> {
  return Number(/aof_rewrites:(\d+)/.exec(await redis.info('persistence'))?.[1] ?? 0)
}

async function usedMemory(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))![1])
}

/** Processor seconds since the server started, and how many scripts took up to how many microseconds. */
async function scriptCalls(redis: Redis): Promise<{ seconds: number; histogram: Map<number, number> }> {
  const cpu = await redis.info('cpu')
  const seconds =
    Number(/used_cpu_sys:([\d.]+)/.exec(cpu)![1]) + Number(/used_cpu_user:([\d.]+)/.exec(cpu)![1])
  const reply = (await redis.call('LATENCY', 'HISTOGRAM', 'evalsha')) as [string, unknown[]] | []
  const buckets = (reply[1]?.[3] ?? []) as number[]
  const histogram = new Map<number, number>()
  for (let at = 0; at < buckets.length; at += 2) histogram.set(buckets[at]!, buckets[at + 1]!)
  return { seconds, histogram }
}

/** The histogram is cumulative: the slowest is in the last bucket whose count grew by more than the one before. */
function slowestBetween(before: Map<number, number>, after: Map<number, number>): number {
  let grown = 0
  let slowest = 0
  let earlier = 0
  for (const [us, calls] of after) {
    earlier = before.get(us) ?? earlier
    if (calls - earlier > grown) {
      grown = calls - earlier
      slowest = us
    }
  }
  return slowest
}

/** Ids of the slow log's scripts (Redis's default threshold is 10 ms). */
async function slowest(redis: Redis): Promise<number[]> {
  const entries = (await redis.slowlog('GET', -1)) as [number, number, number, string[]][]
  return entries.filter(([, , us, [command]]) => us > 10_000 && /^eval/i.test(command!)).map(([id]) => id)
}
