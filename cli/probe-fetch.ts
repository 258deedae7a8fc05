import type { Command } from 'commander'
import { z } from 'zod'
import { env } from '../core/env'
import { webUrl } from '../core/url'
import { Cookies } from '../worker/cookies'
import { decodeHtml } from '../worker/fetch/charset'
import { documentType } from '../worker/fetch/document-type'
import { FetchFailure } from '../worker/fetch/failure'
import { createFetcher, type Fetched, type Fetcher } from '../worker/fetch/fetcher'
import { askRobots, HostRobots } from '../worker/host-robots'
import { classify, REASONS } from '../worker/outcome'
import { probe } from './probe'
import { spiderOf } from './probe-extract'

const schema = z.object({
  url: z.string(),
  /** A spider file, or the spider itself, for headers, robots and private addresses; absent: the default one. */
  spider: z.union([z.string(), z.looseObject({})]).optional(),
  allowPrivate: z.boolean().default(false),
  ignoreRobots: z.boolean().default(false),
  /** Whether the text of the answer is part of the answer here. */
  text: z.boolean().default(false),
})

interface Options {
  spider?: string
  allowPrivate?: boolean
  ignoreRobots?: boolean
  text?: boolean
}

/** `orbweaver fetch`: everything about one request, as a worker would make it. */
export function fetchCommand(program: Command): void {
  program
    .command('fetch')
    .description(
      'fetch one page and tell everything about it; without one, JSON lines {url, spider?, allowPrivate?, ignoreRobots?, text?} on standard input',
    )
    .argument('[url]', 'the page')
    .option('--spider <file>', 'spider file (JSON); the default spider when not given')
    .option('--allow-private', 'fetch private and loopback addresses too')
    .option('--ignore-robots', 'fetch though robots.txt forbids it')
    .option('--text', 'tell the text of the page too')
    .action(async (url: string | undefined, options: Options) => {
      const fetcher = workerFetcher()
      const robots = new HostRobots(fetcher, env().USER_AGENT)
      try {
        const answer = (input: z.output<typeof schema>) => ask(input, fetcher, robots)
        await probe(
          { schema, main: 'url', answer, atOnce: 8 },
          url === undefined ? null : { url, ...options },
        )
      } finally {
        await fetcher.close()
      }
    })
}

function workerFetcher(): Fetcher {
  const settings = env()
  return createFetcher({
    userAgent: settings.USER_AGENT,
    connectTimeoutMs: settings.CONNECT_TIMEOUT * 1000,
    readTimeoutMs: settings.READ_TIMEOUT * 1000,
    totalTimeoutMs: settings.DOWNLOAD_TIMEOUT * 1000,
    maxBytes: settings.MAX_BODY_BYTES,
    maxRedirects: settings.MAX_REDIRECTS,
  })
}

async function ask(input: z.output<typeof schema>, fetcher: Fetcher, hosts: HostRobots): Promise<object> {
  const url = webUrl(input.url)
  const spider = await spiderOf(input.spider)
  const allowPrivate = input.allowPrivate || spider.allowPrivate || env().ALLOW_PRIVATE
  const asker = { allowPrivate, userAgent: spider.userAgent ?? env().USER_AGENT }
  const verdict = await robotsVerdict(url, hosts, asker)
  const obeys = spider.robots === 'obey' && !input.ignoreRobots
  if (obeys && verdict.reason) {
    const { reason } = verdict
    return { url, robots: verdict, outcome: { state: REASONS[reason].state, reason } }
  }
  try {
    const fetched = await fetcher.fetch(url, {
      allowPrivate,
      headers: spider.headers,
      userAgent: asker.userAgent,
      ...(spider.cookies && { cookies: new Cookies().of(0) }),
      signal: new AbortController().signal,
      redirectAllowed: async (hop) => !obeys || (await hosts.of(hop, asker)).allows(hop),
    })
    return { ...description(fetched, input.text), robots: verdict }
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error
    return { url, ...error.answer, robots: verdict, outcome: classify(error, policy()) }
  }
}

const policy = () => ({ retryCodes: env().RETRY_HTTP_CODES })

function description({ body, ...fetched }: Fetched, withText: boolean): object {
  const type = documentType(body, fetched.contentType)
  const decoded = type === 'binary' ? null : decodeHtml(body, fetched.contentType)
  return {
    ...fetched,
    bytes: body.length,
    type,
    charset: decoded?.charset ?? null,
    charsetSource: decoded?.source ?? null,
    outcome: classify({ ...fetched, body }, policy()),
    ...(withText ? { text: decoded?.text ?? null } : {}),
  }
}

interface Verdict {
  allowed: boolean
  /** Why it is not fetched. */
  reason?: keyof typeof REASONS
  line?: number | null
  rule?: string | null
  crawlDelay?: number | null
  sitemaps?: string[]
}

async function robotsVerdict(
  url: string,
  hosts: HostRobots,
  asker: { allowPrivate: boolean; userAgent: string },
): Promise<Verdict> {
  const asked = await askRobots(hosts, url, asker)
  if ('reason' in asked) return { allowed: false, reason: asked.reason }
  const { robots } = asked
  const line = robots.decidingLine(url)
  const allowed = robots.allows(url)
  return {
    allowed,
    ...(allowed ? {} : { reason: 'robots' }),
    line: line?.number ?? null,
    rule: line?.text ?? null,
    crawlDelay: robots.crawlDelayMs === null ? null : robots.crawlDelayMs / 1000,
    sitemaps: robots.sitemaps,
  }
}
