import { seenKey, sharesKey } from './keys'
import type { Dedupe } from './task'

/** Where a run remembers what it has seen, as the scripts take it (lua/include/seen.lua). */
export interface Seen {
  /** Text form of the run's dedupe, as its record in Redis has it. */
  dedupe: string
  /** `buckets` × `chunks` keys; new ids go to the first bucket, all are looked at. */
  keys: string[]
  /** How many URLs of each host the run has admitted, where it counts them. */
  shares: string
  kind: 'exact' | 'bloom'
  buckets: number
  chunks: number
  /** Bits of one chunk (Bloom). */
  bits: number
  hashes: number
  /** Seconds that a bucket lives after its last write; 0: for ever. */
  ttl: number
  /** The keys are this run's alone, and go when it is forgotten. */
  own: boolean
}

/** One Bloom chunk, 16 MiB: making it is one short command, and no key grows unwieldy. */
const CHUNK_BITS = 2 ** 27
/** Days of memory are kept in this many keys at most, so that a look-up stays short; more days share a key. */
const BUCKETS = { exact: 31, bloom: 8 }
/** A day's key outlives its last use by this, so that a run that pauses still knows what it has seen. */
const GRACE_DAYS = 7

/** Text form; `@` stands for the day the run is opened, by Redis's clock, which the script fills in. */
export function dedupeText(dedupe: Dedupe): string {
  const kind = dedupe.kind === 'exact' ? 'exact' : `bloom:${dedupe.capacity}:${dedupe.errorRate}`
  if (dedupe.scope === 'run') return `run:${kind}`
  if (dedupe.scope === 'forever') return `forever:${dedupe.spider}:${kind}`
  return `days:${dedupe.days}:${dedupe.spider}:@:${kind}`
}

/**
 * The keys of a run. With scope `days` a run belongs to the day it was opened on: it knows what runs of that day and the
 * `days - 1` before saw, and never forgets its own pages however long it takes.
 */
export function seenOf(queue: string, run: number, dedupe: string): Seen {
  const [scope, ...rest] = dedupe.split(':')
  const [days, spider, day] =
    scope === 'days'
      ? rest.splice(0, 3).map(Number)
      : [0, ...(scope === 'forever' ? [Number(rest.shift())] : [])]
  const kind = rest[0] as 'exact' | 'bloom'
  const filter =
    kind === 'bloom' ? bloomSize(Number(rest[1]), Number(rest[2])) : { chunks: 1, bits: 0, hashes: 0 }
  const shape = kind === 'bloom' ? `bloom-${rest[1]}-${rest[2]}` : 'exact'
  const chunk = (bucket: string) =>
    Array.from({ length: filter.chunks }, (_, part) =>
      seenKey(queue, filter.chunks === 1 ? bucket : `${bucket}:${part}`),
    )
  const seen = {
    dedupe,
    kind,
    ...filter,
    buckets: 1,
    ttl: 0,
    own: scope === 'run',
    shares: sharesKey(queue, run),
  }
  if (scope === 'run') return { ...seen, keys: chunk(`run:${run}:${shape}`) }
  if (scope === 'forever') return { ...seen, keys: chunk(`spider:${spider}:${shape}`) }

  const span = Math.ceil(days! / BUCKETS[kind])
  const newest = Math.floor(day! / span)
  // Where several days share a key, the newest may have just begun: one more behind it makes up the full days.
  const buckets = Math.ceil(days! / span) + (span > 1 ? 1 : 0)
  const keys = Array.from({ length: buckets }, (_, back) =>
    chunk(`spider:${spider}:${shape}:${span}d:${newest - back}`),
  ).flat()
  return { ...seen, buckets, keys, ttl: (days! + span + GRACE_DAYS) * 86_400 }
}

/** Bits and hash functions for `capacity` ids at `errorRate`: m = −n·ln p / ln²2, k = m/n·ln 2. */
export function bloomSize(
  capacity: number,
  errorRate: number,
): { chunks: number; bits: number; hashes: number } {
  const total = Math.ceil((-capacity * Math.log(errorRate)) / Math.LN2 ** 2)
  const chunks = Math.ceil(total / CHUNK_BITS)
  return {
    chunks,
    bits: Math.ceil(total / chunks),
    hashes: Math.max(1, Math.round((total / capacity) * Math.LN2)),
  }
}

/** The arguments that lua/include/seen.lua reads. */
export function seenArguments(runs: Map<number, Seen>): { keys: string[]; args: (string | number)[] } {
  const keys: string[] = []
  const args: (string | number)[] = [runs.size]
  for (const [run, seen] of runs) {
    keys.push(...seen.keys, seen.shares)
    args.push(run, seen.dedupe, seen.kind, seen.buckets, seen.chunks, seen.bits, seen.hashes, seen.ttl)
  }
  return { keys, args }
}
