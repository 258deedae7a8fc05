import { rename, utimes, writeFile } from 'node:fs/promises'
import { env } from './env'

/**
 * Writes down that this process got on at `at` (ms since 1970): a claim was answered, a duty was done. It is the time stamp of
 * HEALTH_FILE, because these processes have no port to be asked at, and a look at a file costs a health check nothing. Without
 * that variable nothing is written.
 */
export async function noteProgress(at: number): Promise<void> {
  const file = env().HEALTH_FILE
  if (!file) return
  await writeFile(`${file}.new`, '')
  await utimes(`${file}.new`, at / 1000, at / 1000)
  // Renamed into place, so that it never has another time.
  await rename(`${file}.new`, file)
}
