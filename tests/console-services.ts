import { setEnv } from '../core/env'
import { LiveFeed } from '../server/api/live-feed'
import type { Context } from '../server/api/trpc'
import { createAuth, type Person } from '../server/auth'
import { openServices, type Services } from '../server/context'
import { freshDatabase, freshName, testRedisUrl } from './services'

/** Address the console of the tests is at; nothing needs to listen there. */
export const CONSOLE = 'http://127.0.0.1:3999'

/** What the environment of a console on this database says. */
export const consoleEnv = (databaseUrl: string) => ({
  REDIS_URL: testRedisUrl(),
  DATABASE_URL: databaseUrl,
  AUTH_SECRET: 'of-this-test-run-only-0123456789abcdef',
  PUBLIC_URL: CONSOLE,
  QUEUE_KEY: freshName('console'),
  LOG_LEVEL: 'error',
})

/** Services on a database of their own. */
export async function consoleServices(): Promise<{ services: Services; end(): Promise<void> }> {
  const site = await freshDatabase()
  setEnv(consoleEnv(site.url))
  const services = await openServices('test')
  return {
    services,
    async end() {
      await services.close()
      await site.drop()
    },
  }
}

/** What procedures get for a request of `person`. */
export const requestOf = (services: Services, person: Person | null): Context => ({
  services,
  auth: createAuth(services),
  live: new LiveFeed(services),
  person,
  requestId: 'test',
})

export const someone = (role: Person['role']): Person => ({
  id: `the-${role}`,
  name: role,
  email: `${role}@example.com`,
  role,
})
