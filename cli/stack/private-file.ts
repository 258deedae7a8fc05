import { readFile, rename, statfs, writeFile } from 'node:fs/promises'
import { UnsafeError } from '../../core/errors'

/** Writes a file whole or not at all, readable by its owner alone. @throws UnsafeError when the disk is full. */
export async function writePrivately(path: string, text: string): Promise<void> {
  try {
    await writeFile(`${path}.new`, text, { mode: 0o600 })
    await rename(`${path}.new`, path)
  } catch (error) {
    throw diskFault(error, path)
  }
}

/** The content of a JSON file, or undefined when it is missing or broken (a crash may have cut it). */
export async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** Least space a start needs: the database alone begins with some 150 MB. */
const LEAST_BYTES = 300e6

/** @throws UnsafeError when the disk of `folder` is as good as full, which servers say badly or not at all. */
export async function requireSpace(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  if (free < LEAST_BYTES)
    throw new UnsafeError(
      `The disk of ${folder} is full (${Math.floor(free / 1e6)} MB free, ${LEAST_BYTES / 1e6} MB needed); free some space and start again.`,
    )
}

/** The fault as a sentence with its remedy when it is the disk's; the error itself when not. */
export function diskFault(error: unknown, path: string): unknown {
  const remedy = REMEDY[(error as NodeJS.ErrnoException)?.code ?? '']
  return remedy ? new UnsafeError(`Cannot write ${path}: ${remedy}.`, { cause: error }) : error
}

const NOT_YOURS = 'this user may not write there; change its owner, or set STATE_DIR to a folder of your own'
const READ_ONLY = 'the folder cannot be made; set STATE_DIR to a place that can be written'
const REMEDY: Record<string, string> = {
  ENOSPC: 'the disk is full; free some space and start again',
  EDQUOT: 'your disk quota is used up; free some space and start again',
  EACCES: NOT_YOURS,
  EPERM: NOT_YOURS,
  EROFS: READ_ONLY,
  // What Node makes of a read-only disk when it creates a folder with its parents.
  ENOENT: READ_ONLY,
}
