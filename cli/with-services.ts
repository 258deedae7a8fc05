import { env, setEnv } from '../core/env'
import { openDatabase, ping } from '../drizzle/database'
import { migrate } from '../drizzle/migrate'
import { openServices, type Services } from '../server/context'
import { packageFile } from './package-file'
import { openStack } from './stack/stack'
import { stateFolder } from './stack/state'

/**
 * Does `work` on the servers of the environment, or else on the embedded ones (joined where they run, started where not,
 * and then stopped again), with the database at its newest schema.
 */
export async function withServices<T>(name: string, work: (services: Services) => Promise<T>): Promise<T> {
  // Lines of the log would tear the progress display apart; what a person must know is said by the command.
  if (env().LOG_LEVEL === 'info') setEnv({ LOG_LEVEL: 'error' })
  const stack = await openStack({
    stateDir: stateFolder(),
    say: (message) => process.stderr.write(`${message}\n`),
  })
  try {
    setEnv({ REDIS_URL: stack.redisUrl, DATABASE_URL: stack.databaseUrl })
    await migrateReachable(stack.databaseUrl)
    const services = await openServices(name)
    try {
      return await Promise.race([work(services), stack.broken])
    } finally {
      await services.close()
    }
  } finally {
    await stack.stop()
  }
}

/** The newest schema. @throws Unavailable when the database does not answer, with a better sentence than the driver's. */
export async function migrateReachable(url: string): Promise<void> {
  const database = openDatabase(url, 1)
  try {
    await ping(database, url)
  } finally {
    await database.close()
  }
  await migrate(url, packageFile('drizzle/migrations'))
}
