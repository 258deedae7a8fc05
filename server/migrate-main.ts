import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { databaseUrl } from '../core/env'
import { openLog } from '../core/log'
import { patiently } from '../core/patience'
import { exitWith } from '../core/program'
import { openDatabase, ping } from '../drizzle/database'
import { migrate } from '../drizzle/migrate'

/** The migration job of a deployment: brings the database to the newest schema and ends. Exit codes as in core/program.ts. */
async function main(): Promise<void> {
  const log = openLog('migrate')
  const url = databaseUrl()
  const database = openDatabase(url, 1)
  await patiently(log, () => ping(database, url)).finally(() => database.close())
  // `dist/` and the migrations stand side by side, in the image and in a checkout.
  const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'drizzle/migrations')
  await migrate(url, folder)
  log.info('The database is at the newest schema')
}

main().catch(exitWith)
