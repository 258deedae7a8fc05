import type dns from 'node:dns'
import type { Lookup } from '../../core/address-guard'

export interface RememberedNames {
  lookup: Lookup
  /** Nothing answers where the name led: it may have moved. */
  forget(host: string): void
}

/** Names that are remembered at a time; the ones asked for longest ago go first. */
const NAMES_KEPT = 20_000
/** A name without an answer is asked for again sooner: its server may be the one that is away for a moment. */
const FAILED_TTL_MS = 5_000

interface Entry {
  until: number
  answer: Promise<Answer>
}

type Answer = { error: NodeJS.ErrnoException | null; addresses: dns.LookupAddress[] }

/**
 * A resolver that remembers its answers for `ttlMs`, and asks once for those who wait for the same name. The system's resolver
 * does not tell how long an answer holds, so one time stands for all. Which addresses may be connected to is judged after
 * this, each time.
 */
export function rememberNames(lookup: Lookup, ttlMs: number): RememberedNames {
  /** By host, and what of it was asked for. */
  const known = new Map<string, Map<string, Entry>>()

  const ask = (host: string, options: dns.LookupAllOptions): Promise<Answer> => {
    const what = `${options.family ?? 0} ${options.hints ?? 0}`
    const answers = known.get(host) ?? new Map<string, Entry>()
    const before = answers.get(what)
    if (before && before.until > performance.now()) return before.answer
    const entry: Entry = {
      // Until it is answered it holds for whoever asks.
      until: Number.POSITIVE_INFINITY,
      answer: new Promise<Answer>((resolve) => {
        lookup(host, { ...options, all: true }, (error, addresses) => resolve({ error, addresses }))
      }),
    }
    answers.set(what, entry)
    known.delete(host)
    if (known.size >= NAMES_KEPT) known.delete(known.keys().next().value!)
    known.set(host, answers)
    void entry.answer.then(({ error }) => {
      entry.until = performance.now() + (error ? Math.min(FAILED_TTL_MS, ttlMs) : ttlMs)
    })
    return entry.answer
  }

  const remembering: Lookup = (host, options, done) => {
    void ask(host, options).then(({ error, addresses }) => {
      if (error) return done(error, [])
      // Shared answers must not be changed by whoever gets them.
      done(
        null,
        addresses.map((address) => ({ ...address })),
      )
    })
  }
  return {
    lookup: remembering,
    forget: (host) => void known.delete(host),
  }
}
