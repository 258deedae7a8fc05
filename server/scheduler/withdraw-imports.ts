import type { Services } from '../context'
import { select } from '../db'
import { IMPORT_SILENT_SECONDS } from '../services/seeds'
import { withdrawImport } from '../services/withdraw-import'
import { oneByOne } from './one-by-one'

/** Takes back what is left of files whose reader died, or could not take them back itself because the database was away. */
export async function withdrawImports(s: Services, still: () => boolean): Promise<void> {
  const left = await select<{ id: number }>(
    s.database.pool,
    "SELECT id FROM imports WHERE open_for IS NOT NULL AND (state = 'failed' OR alive_at < UTC_TIMESTAMP(3) - INTERVAL ? SECOND)",
    [IMPORT_SILENT_SECONDS],
  )
  await oneByOne(
    s,
    left,
    still,
    ({ id }) => ({ import: id }),
    async ({ id }) => {
      await withdrawImport(
        s,
        id,
        'The process that read the file ended before it was done; import the file again.',
      )
      s.log.warn({ import: id }, 'an import that broke off is taken back')
    },
  )
}
