import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { childEnv } from '../../core/env'

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']

/** Path of a Chromium or Chrome that is on PATH. */
export async function chromiumOnPath(): Promise<string | undefined> {
  const folders = (childEnv().PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  for (const program of PROGRAMS)
    for (const folder of folders) {
      const path = join(folder, program)
      if (await isProgram(path)) return path
    }
  return undefined
}

export const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
