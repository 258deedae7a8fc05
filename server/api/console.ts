import { type Auth, createAuth } from '../auth'
import { openServices, type Services } from '../context'
import { LiveFeed } from './live-feed'

/** What one web process shares among its requests. */
export interface Console {
  services: Services
  auth: Auth
  live: LiveFeed
}

// Kept on `globalThis`, because the bundler may give each route a copy of this module.
const shared = globalThis as typeof globalThis & { orbweaverConsole?: Promise<Console> | undefined }

/**
 * The process's console, opened by the first request that needs it. When that fails (a server is away) the next request
 * tries again. @throws Unavailable | UnsafeError as `openServices`.
 */
export function openConsole(): Promise<Console> {
  shared.orbweaverConsole ??= open().catch((error) => {
    shared.orbweaverConsole = undefined
    throw error
  })
  return shared.orbweaverConsole
}

async function open(): Promise<Console> {
  const services = await openServices('web')
  try {
    const live = new LiveFeed(services)
    process.once('SIGTERM', () => end(live, 143))
    process.once('SIGINT', () => end(live, 130))
    return { services, auth: createAuth(services), live }
  } catch (error) {
    await services.close()
    throw error
  }
}

/**
 * The web server ends by itself once its connections have, which pages that are open in a browser never let happen: they
 * ask again on the connection they have. So streams end at once, what is under way gets two seconds, and then it is over.
 */
function end(live: LiveFeed, exitCode: number): void {
  live.close()
  setTimeout(() => process.exit(exitCode), 2_000).unref()
}
