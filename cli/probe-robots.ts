import type { Command } from 'commander'
import { z } from 'zod'
import { env } from '../core/env'
import { webUrl } from '../core/url'
import { RobotsUnreachable, robotsOfAnswer } from '../worker/host-robots'
import { bytesOf, bytesSchema, probe } from './probe'

const schema = bytesSchema.extend({
  /** The URL in question. */
  url: z.string(),
  /** Product token or User-Agent; absent: ours. */
  agent: z.string().optional(),
  /** HTTP status that robots.txt came with. */
  status: z.number().int().min(100).max(999).default(200),
})

interface Options {
  agent?: string
  status?: number
}

/** `orbweaver robots`: what a robots.txt says about a URL, and which line says so. */
export function robotsCommand(program: Command): void {
  program
    .command('robots')
    .description(
      'ask a robots.txt about a URL; without one, JSON lines {file or text, url, agent?, status?} on standard input',
    )
    .argument('[file]', 'robots.txt; - for standard input')
    .argument('[url]', 'the URL in question')
    .option('--agent <name>', 'product token or User-Agent; ours when not given')
    .option('--status <code>', 'HTTP status that the file came with', Number)
    .action((file: string | undefined, url: string | undefined, options: Options) =>
      probe({ schema, main: 'url', answer }, file === undefined ? null : { file, url, ...options }),
    )
}

async function answer(input: z.output<typeof schema>): Promise<object> {
  const url = webUrl(input.url)
  const agent = input.agent ?? env().USER_AGENT
  const body = input.status < 300 ? await bytesOf(input) : ''
  try {
    const robots = robotsOfAnswer(`${new URL(url).origin}/robots.txt`, input.status, body, agent)
    const line = robots.decidingLine(url)
    return {
      allowed: robots.allows(url),
      line: line?.number ?? null,
      rule: line?.text ?? null,
      group: robots.group,
      crawlDelay: robots.crawlDelayMs === null ? null : robots.crawlDelayMs / 1000,
      sitemaps: robots.sitemaps,
    }
  } catch (error) {
    if (!(error instanceof RobotsUnreachable)) throw error
    return {
      allowed: false,
      line: null,
      rule: null,
      group: null,
      crawlDelay: null,
      sitemaps: [],
      unreachable: true,
    }
  }
}
