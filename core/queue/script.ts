import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import { sentence, Unavailable } from '../errors'
import { SCRIPTS } from './scripts.generated'

export type ScriptName = keyof typeof SCRIPTS

/** A script refused its arguments or the state it found; nothing was changed. A fault of ours, or of who writes to our keys. */
export class ScriptRefused extends Error {
  override name = 'ScriptRefused'
}

const shas = new Map<string, string>()

/**
 * Runs a script by its SHA, and sends its text when Redis does not know it (first use, SCRIPT FLUSH, failover).
 * @throws Unavailable when Redis is full, loading or gone; the script is then either done as a whole or not at all.
 * @throws ScriptRefused when the script refused; nothing was changed.
 */
export async function runScript(
  redis: Redis,
  name: ScriptName,
  keys: string[],
  args: (string | number | Buffer)[],
): Promise<unknown> {
  const text = SCRIPTS[name]
  let sha = shas.get(text)
  if (!sha) {
    sha = createHash('sha1').update(text).digest('hex')
    shas.set(text, sha)
  }
  try {
    return await redis.evalsha(sha, keys.length, ...keys, ...args)
  } catch (error) {
    if (!sentence(error).startsWith('NOSCRIPT')) throw classed(error, name)
  }
  try {
    return await redis.eval(text, keys.length, ...keys, ...args)
  } catch (error) {
    throw classed(error, name)
  }
}

const PASSING = /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|NOREPLICAS|MISCONF)\b/
/** How the client says that there was no answer; it gives a plain Error for a closed link and a passed deadline. */
const UNANSWERED = ['Error', 'AbortError', 'MaxRetriesPerRequestError']

/** The class of error by which callers decide: a full or absent server passes, anything else does not. */
export function classed(error: unknown, doing: string): unknown {
  if (!(error instanceof Error)) return error
  const text = sentence(error)
  if (error.name === 'ReplyError') {
    if (text.startsWith('OOM'))
      return new Unavailable(
        `Redis is full (maxmemory), so ${doing} was refused and nothing was changed; raise maxmemory or end runs.`,
        { cause: error },
      )
    if (text.startsWith('REFUSED ')) return new ScriptRefused(`${doing}: ${text.slice(8)}`, { cause: error })
    if (!PASSING.test(text)) return error
  } else if (!UNANSWERED.includes(error.name)) return error
  return new Unavailable(`Redis did not answer ${doing} (${text}); check that it runs and has its disk.`, {
    cause: error,
  })
}
