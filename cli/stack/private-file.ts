import { readFile, rename, writeFile } from 'node:fs/promises'
import { sentence, UnsafeError } from '../../core/errors'

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

/** The fault as a sentence with its remedy when it is the disk's; the error itself when not. */
export function diskFault(error: unknown, path: string): unknown {
  const code = (error as NodeJS.ErrnoException)?.code
  const remedy = {
    ENOSPC: 'the disk is full; free some space and start again',
    EDQUOT: 'your disk quota is used up; free some space and start again',
    EACCES: 'this user may not write there; change its owner, or set STATE_DIR to a folder of your own',
    EPERM: 'this user may not write there; change its owner, or set STATE_DIR to a folder of your own',
    EROFS: 'it is on a read-only disk; set STATE_DIR to a folder that can be written',
  }[code ?? '']
  return remedy
    ? new UnsafeError(`Cannot write ${path}: ${remedy}.`, { cause: error })
    : new Error(sentence(error), { cause: error })
}
