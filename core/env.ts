import { join } from 'node:path'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { UserError } from './errors'
import { isZone } from './time-zone'

/**
 * Every environment variable that Orbweaver reads, with its default, unit and meaning. This table is the source of
 * `docs/configuration.md` and `.env.example`; nothing else in the tree touches `process.env`.
 *
 * The fetching values are defaults: a queue's settings in the console override them, live.
 */
const seconds = (fallback: number) => z.coerce.number().min(0).max(86_400).default(fallback)
const count = (fallback: number, max = 1_000_000) => z.coerce.number().int().min(0).max(max).default(fallback)
const flag = (fallback: boolean) =>
  z
    .enum(['true', 'false', '1', '0'])
    .default(fallback ? 'true' : 'false')
    .transform((value) => value === 'true' || value === '1')
const zone = z
  .string()
  .refine(isZone, { message: 'is not an IANA time zone; write one such as Asia/Shanghai or UTC' })
const codes = z
  .string()
  .default('500,502,503,504')
  .transform((list, context) =>
    list.split(',').map((code) => {
      const value = Number(code.trim())
      if (!Number.isInteger(value) || value < 100 || value > 599) {
        context.addIssue({
          code: 'custom',
          message: `"${code}" is not an HTTP status; write codes such as 500,502,503`,
        })
      }
      return value
    }),
  )

/** Addresses of proxies, as networks. */
const proxies = z
  .string()
  .default('0')
  .transform(
    (value, context): TrustedProxies =>
      /^\d{1,2}$/.test(value)
        ? Number(value)
        : networksOf(value, 'a number of proxies, or a list such as', context),
  )
const networks = z.string().transform((value, context) => networksOf(value, 'a list such as', context))

/** An address, and how many bits of it count. */
export type Network = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Whose X-Forwarded-For is believed: so many proxies in a row, or those of these networks. */
export type TrustedProxies = number | Network[]

function networksOf(list: string, remedy: string, context: z.RefinementCtx): Network[] {
  return list.split(',').flatMap((part) => {
    const network = networkOf(part.trim())
    if (network) return [network]
    context.addIssue({
      code: 'custom',
      message: `"${part.trim()}" is neither an address nor a network; write ${remedy} 10.0.0.0/8,192.168.1.5`,
    })
    return []
  })
}

function networkOf(text: string): Network | null {
  // The library also reads `10` and `0x7f.1` as addresses.
  if (!/^(\d+\.\d+\.\d+\.\d+|[\da-f:.]*:[\da-f:.]*)(\/\d+)?$/i.test(text)) return null
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text)
  if (!ipaddr.isValid(text)) return null
  const address = ipaddr.parse(text)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

export const envTable = {
  REDIS_URL: z
    .string()
    .optional()
    .describe('Redis server, `redis://[:password@]host:port/db`. Empty: REDIS_HOST and the rest.'),
  REDIS_HOST: z.string().optional().describe('Redis host, when REDIS_URL is not given.'),
  REDIS_PORT: count(6379, 65_535).describe('Redis port, when REDIS_URL is not given.'),
  REDIS_PASSWORD: z.string().optional().describe('Redis password, when REDIS_URL is not given.'),
  DATABASE_URL: z
    .string()
    .optional()
    .describe('MySQL or MariaDB, `mysql://user:password@host:port/name`. Empty: MYSQL_HOST and the rest.'),
  MYSQL_HOST: z.string().optional().describe('Database host, when DATABASE_URL is not given.'),
  MYSQL_PORT: count(3306, 65_535).describe('Database port, when DATABASE_URL is not given.'),
  MYSQL_USER: z.string().default('orbweaver').describe('Database user, when DATABASE_URL is not given.'),
  MYSQL_PASSWORD: z.string().optional().describe('Database password, when DATABASE_URL is not given.'),
  MYSQL_DATABASE: z.string().default('orbweaver').describe('Database name, when DATABASE_URL is not given.'),
  QUEUE_KEY: z
    .string()
    .min(1)
    .max(64)
    .regex(/^[\w.:{}-]+$/)
    .default('crawl_queue')
    .describe('Name of the queue, and of the Redis List that is its inbox.'),
  CONCURRENT_REQUESTS: count(16, 1000).describe('Pages a worker fetches at once.'),
  CONCURRENT_REQUESTS_PER_HOST: count(8, 1000).describe(
    'Pages fetched at once from one host, by all workers together, when the delay is 0. With a delay it is 1.',
  ),
  DOWNLOAD_DELAY: seconds(1).describe(
    'Seconds between the starts of two fetches from one host, by all workers together; each is drawn within ±33 %.',
  ),
  DOWNLOAD_TIMEOUT: seconds(15).describe(
    'Seconds for one page from connect to last byte, redirects included.',
  ),
  CONNECT_TIMEOUT: seconds(5).describe('Seconds to connect, TLS included.'),
  READ_TIMEOUT: seconds(10).describe('Seconds without a byte, while waiting for headers or body.'),
  PROXY_TEST_URL: z
    .url({ protocol: /^https?$/ })
    .default('https://example.com/')
    .describe('Where a proxy has to lead to before it is taken into the pool of a queue.'),
  DNS_TTL: seconds(60).describe(
    'Seconds for which a worker remembers the addresses of a host; 0: not at all.',
  ),
  CHROMIUM_PATH: z
    .string()
    .optional()
    .describe('Program of Chromium or Chrome for workers that render. Empty: the one on PATH.'),
  RENDER_PAGES: z.coerce
    .number()
    .int()
    .min(1)
    .max(100)
    .optional()
    .describe(
      'Pages that a rendering worker has open at once. Empty: as many as its memory has room for, 500 MB each beside 1024 MB for the browser.',
    ),
  RENDER_MEMORY_MB: z.coerce
    .number()
    .int()
    .min(256)
    .max(1_048_576)
    .optional()
    .describe(
      "Memory of a rendering worker in MB. Empty: the container's limit, or else the machine's memory.",
    ),
  RENDER_TIMEOUT: z.coerce
    .number()
    .min(1)
    .max(600)
    .default(60)
    .describe('Seconds for one rendered page, waiting and actions included.'),
  RENDER_RECYCLE_PAGES: z.coerce
    .number()
    .int()
    .min(1)
    .max(100_000)
    .default(200)
    .describe('Pages after which a rendering worker starts its browser anew.'),
  MAX_BODY_BYTES: count(10_485_760, 1_073_741_824).describe(
    'Bytes of a page after decompression; what is longer is cut and classed by policy.',
  ),
  MAX_REDIRECTS: count(10, 50).describe('Redirects followed for one page.'),
  RETRY_TIMES: count(3, 100).describe('Retries after a passing failure, with 2, 4, 8 … s between.'),
  RETRY_HTTP_CODES: codes.describe('HTTP statuses that are passing failures.'),
  MAX_DELIVERIES: z.coerce
    .number()
    .int()
    .min(3)
    .max(100)
    .default(5)
    .describe('Times a page may take its worker down with it before it becomes a dead letter.'),
  USER_AGENT: z
    .string()
    .min(1)
    .max(500)
    .default('Orbweaver/0.1 (+https://github.com/orbweaver/orbweaver)')
    .describe('User-Agent header; its first word up to the slash is the name obeyed in robots.txt.'),
  ROBOTS: z.enum(['obey', 'ignore']).default('obey').describe('Whether robots.txt (RFC 9309) is obeyed.'),
  ALLOW_PRIVATE: flag(false).describe(
    'Whether pages on private, loopback and other not globally routable addresses may be fetched.',
  ),
  LEASE_SECONDS: z.coerce
    .number()
    .min(1)
    .max(3600)
    .default(30)
    .describe('Seconds a worker owns a page without renewing.'),
  REAP_SECONDS: z.coerce
    .number()
    .min(0.1)
    .max(3600)
    .default(5)
    .describe('Seconds between two looks for lapsed leases.'),
  DRAIN_SECONDS: seconds(25).describe(
    'Seconds a worker may go on after SIGTERM before it hands back what it holds.',
  ),
  HEARTBEAT_SECONDS: z.coerce
    .number()
    .min(1)
    .max(60)
    .default(5)
    .describe('Seconds between two heartbeats of a worker.'),
  TZ: zone.default('UTC').describe('IANA time zone for schedules without one of their own.'),
  HTTP_PORT: count(3000, 65_535).describe('Port of the console.'),
  HTTP_HOST: z.string().default('127.0.0.1').describe('Address the console listens on.'),
  PUBLIC_URL: z
    .string()
    .optional()
    .describe('Address people open the console at, when it is not http://HTTP_HOST:HTTP_PORT.'),
  TRUSTED_PROXIES: proxies.describe(
    'Proxies in front of the console whose X-Forwarded-For is believed: how many there are in a row, or their addresses and networks, such as 10.0.0.0/8,192.168.1.5. With 0 the address of a client is that of its connection, whatever it says.',
  ),
  AUTH_SECRET: z
    .string()
    .min(32, 'is shorter than 32 characters; make one with: openssl rand -hex 32')
    .optional()
    .describe('Secret that signs sessions, 32 characters or more. The embedded stack makes its own.'),
  SECRETS_KEY: z
    .string()
    .min(32, 'is shorter than 32 characters; make one with: openssl rand -hex 32')
    .optional()
    .describe(
      'Secret with which what workers sign in with, their proxies and the secrets of alert channels are encrypted in the database: the same in console, scheduler and workers. Empty: AUTH_SECRET.',
    ),
  SECRETS_KEYS_OLD: z
    .string()
    .optional()
    .describe('Earlier SECRETS_KEYs, with commas between: what was encrypted with them still opens.'),
  OIDC_ISSUER: z
    .url({ protocol: /^https?$/, error: 'is not an address; write one such as https://login.example.com' })
    .optional()
    .describe(
      'Provider of single sign-on (OpenID Connect) whose people sign in to the console. Register PUBLIC_URL/api/auth/callback/oidc there.',
    ),
  OIDC_CLIENT_ID: z.string().min(1).optional().describe('What OIDC_ISSUER knows this console by.'),
  OIDC_CLIENT_SECRET: z.string().min(1).optional().describe('Secret of OIDC_CLIENT_ID.'),
  OIDC_NAME: z
    .string()
    .min(1)
    .max(60)
    .default('single sign-on')
    .describe('What the sign-in page calls OIDC_ISSUER.'),
  OIDC_NEW_PEOPLE: z
    .enum(['viewer', 'operator', 'admin'])
    .optional()
    .describe('Role of people of OIDC_ISSUER who were not invited; empty: only who was invited comes in.'),
  METRICS_TOKEN: z
    .string()
    .min(32, 'is shorter than 32 characters; make one with: openssl rand -hex 32')
    .optional()
    .describe('Bearer token that may read /metrics, 32 characters or more.'),
  METRICS_NETWORKS: networks
    .optional()
    .describe(
      'Addresses and networks from which /metrics may be read without a token, such as 10.0.0.0/8,192.168.1.5.',
    ),
  API_REQUESTS_PER_MINUTE: count(600).describe(
    'Requests that one API key may send within a minute over all web processes; 0 for any number.',
  ),
  UV_THREADPOOL_SIZE: z.coerce
    .number()
    .int()
    .min(1)
    .max(1024)
    .optional()
    .describe(
      'Threads of a process for name look-ups and decompression, which Node reads before anything else. Workers want 16, and get them from `npm start` and `npm run crawl`; set it where you start workers yourself.',
    ),
  STATE_DIR: z
    .string()
    .default('.orbweaver')
    .describe('Folder of the embedded stack: servers, data, secrets.'),
  WARC_DIR: z
    .string()
    .optional()
    .describe('Folder of the WARC files in which spiders keep pages. Empty: `warc` below STATE_DIR.'),
  WARC_FILE_BYTES: count(1_073_741_824, 1_099_511_627_776).describe(
    'Bytes after which a worker begins its next WARC file.',
  ),
  SPIDERS_DIR: z.string().default('spiders').describe('Folder of the spiders in code.'),
  CODE_TIMEOUT: seconds(10).describe('Seconds that the code of a spider may take for one page.'),
  WARC_FILE_SECONDS: z.coerce
    .number()
    .min(1)
    .max(86_400)
    .default(300)
    .describe(
      'Seconds after which a WARC file is ended and brought to the object store, where there is one.',
    ),
  S3_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'Object store (S3 or any that speaks it) for the WARC files, addressed by path. Empty: they stay in WARC_DIR.',
    ),
  S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'is not a name for a bucket')
    .default('orbweaver')
    .describe('Its bucket, which is made when it is missing.'),
  S3_REGION: z.string().default('us-east-1').describe('Its region, as it is signed.'),
  S3_ACCESS_KEY: z.string().optional().describe('Its access key.'),
  S3_SECRET_KEY: z.string().optional().describe('The secret of that key.'),
  SINKS_FILE: z
    .string()
    .optional()
    .describe(
      'File (YAML) of the places that items go to besides the database, for the scheduler; see docs/sinks.md.',
    ),
  SINK_WAITING_PAGES: count(1_000_000, 1_000_000_000).describe(
    'Pages that may wait for one sink (about 200 bytes each in MySQL); then queues whose runs go to it are paused until half of them are given.',
  ),
  WORKERS: count(2, 64).describe('Workers that `npm start` runs.'),
  STARTUP_SECONDS: seconds(90).describe(
    'Seconds that web, worker, scheduler and scaler wait at their start for Redis, the database and its tables.',
  ),
  SCALER_DRIVER: z
    .enum(['docker', 'swarm', 'kubernetes'])
    .default('docker')
    .describe(
      'What the scaler has workers in: a Compose project, a Swarm stack, or a namespace of Kubernetes.',
    ),
  KUBERNETES_SERVICE_HOST: z
    .string()
    .optional()
    .describe('API server of the cluster, for the scaler; Kubernetes sets it in each pod.'),
  KUBERNETES_SERVICE_PORT: count(443, 65_535).describe('Its port, which Kubernetes sets too.'),
  DOCKER_HOST: z
    .string()
    .regex(/^(unix|tcp|http):\/\/.+/, 'must be unix:// and a path, or tcp:// and host:port')
    .default('unix:///var/run/docker.sock')
    .describe('Docker engine through which the scaler has more or fewer worker containers.'),
  HEALTH_FILE: z
    .string()
    .optional()
    .describe(
      'File in which worker, scheduler and scaler write when they last got on, for the health checks of images.',
    ),
  NPM_REGISTRY: z
    .url()
    .optional()
    .describe(
      'Package registry that builds of images fetch from, such as a mirror near you. Empty: that of npm.',
    ),
  WORKER_MEMORY: z
    .string()
    .regex(/^\d+(\.\d+)?[bkmg]?b?$/i, 'is not a size; write one such as 768m or 1g')
    .optional()
    .describe('Memory limit of a worker container, by which `doctor` reckons; under Compose 768m.'),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Least severe level that is logged.'),
  ALERTS_ALLOW_PRIVATE: flag(false).describe(
    'Whether the channels of alerts may be at private, loopback and other not globally routable addresses. Mail servers always may.',
  ),
  ALLOW_UNSAFE_REDIS: flag(false).describe(
    'Start even on a Redis that may lose work (no persistence, or evicting). For experiments only.',
  ),
} as const

const schema = z.object(envTable)
export type Env = z.infer<typeof schema>

let parsed: Env | undefined

/**
 * The environment of this process, parsed on first use; an empty value counts as not given.
 * @throws UserError that names each wrong variable, its value's fault and what to write instead.
 */
export function env(): Env {
  parsed ??= parseEnv(process.env)
  return parsed
}

/** Parses a set of variables; `env()` for the process's own. @throws UserError as `env()`. */
export function parseEnv(variables: Record<string, string | undefined>): Env {
  const given = Object.fromEntries(
    Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''),
  )
  const result = schema.safeParse(given)
  if (result.success) return result.data
  const faults = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
  throw new UserError(
    `The environment is not usable (${faults.join('; ')}). See docs/configuration.md for each variable.`,
  )
}

/** A variable that has no place in the table, because somebody's own file names it. */
export function variable(name: string): string | undefined {
  return process.env[name] || undefined
}

/** Sets variables for this process and those it starts, and forgets what was parsed before. */
export function setEnv(variables: Record<string, string>): void {
  Object.assign(process.env, variables)
  parsed = undefined
}

/** A copy of the environment for a child process, with `more` on top. */
export function childEnv(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  return { ...process.env, ...more }
}

/** Folder of the WARC files. */
export function warcFolder(from: Env = env()): string {
  return from.WARC_DIR ?? join(from.STATE_DIR, 'warc')
}

/** Where Redis is. @throws UserError when nothing says so. */
export function redisUrl(from: Env = env()): string {
  if (from.REDIS_URL) return from.REDIS_URL
  if (!from.REDIS_HOST)
    throw new UserError('No Redis is given: set REDIS_URL (redis://:password@host:6379/0) or REDIS_HOST.')
  const password = from.REDIS_PASSWORD ? `:${encodeURIComponent(from.REDIS_PASSWORD)}@` : ''
  return `redis://${password}${from.REDIS_HOST}:${from.REDIS_PORT}/0`
}

/** Where the database is. @throws UserError when nothing says so. */
export function databaseUrl(from: Env = env()): string {
  if (from.DATABASE_URL) return from.DATABASE_URL
  if (!from.MYSQL_HOST)
    throw new UserError(
      'No database is given: set DATABASE_URL (mysql://user:password@host:3306/orbweaver) or MYSQL_HOST.',
    )
  const password = from.MYSQL_PASSWORD ? `:${encodeURIComponent(from.MYSQL_PASSWORD)}` : ''
  return `mysql://${encodeURIComponent(from.MYSQL_USER)}${password}@${from.MYSQL_HOST}:${from.MYSQL_PORT}/${from.MYSQL_DATABASE}`
}
