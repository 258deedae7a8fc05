import { openSync, renameSync, statSync } from 'node:fs'
import { diskFault } from './private-file'

/** A log begun anew when it is larger than this; the one before is kept as `.old`. */
const LARGE_BYTES = 50_000_000

/** Opens a log for appending, readable by its owner alone. @returns its descriptor. @throws UnsafeError when it cannot. */
export function openLogFile(path: string): number {
  try {
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    if (size > LARGE_BYTES) renameSync(path, `${path}.old`)
    return openSync(path, 'a', 0o600)
  } catch (error) {
    throw diskFault(error, path)
  }
}
