import type { Command } from 'commander'
import { env } from '../core/env'
import { UserError } from '../core/errors'
import { DEFAULT_SPIDER, type Spider, startUrls } from '../core/spider'
import { numberIn } from './arguments'
import { checkSeed, readSpider } from './crawl-input'
import { checkOutput } from './write-pages'

export interface CrawlOptions {
  spider?: string
  maxPages?: number
  depth?: number
  concurrency?: number
  delay?: number
  workers: number
  out?: string
  allowPrivate?: boolean
  json?: boolean
}

/** `orbweaver crawl`: one run, alone on a queue of its own, from seeds to the output file. */
export function crawlCommand(program: Command): void {
  program
    .command('crawl')
    .description('crawl once and exit: 0 when the run finished, 1 when it could not, 2 on bad arguments')
    .argument('[url...]', 'where to begin, instead of at the seeds of the spider')
    .option('--spider <file>', 'spider file (JSON or TypeScript): what to follow and what to take')
    .option('--max-pages <n>', 'admit at most so many URLs', numberIn('--max-pages', 1, 1_000_000_000))
    .option('--depth <n>', 'follow links at most so far from a start URL', numberIn('--depth', 0, 10_000))
    .option('--concurrency <n>', 'pages that one worker fetches at once', numberIn('--concurrency', 1, 1000))
    .option(
      '--delay <seconds>',
      'time between two fetches from one host',
      numberIn('--delay', 0, 86_400, 'any'),
    )
    .option('--workers <n>', 'worker processes', numberIn('--workers', 1, 64), 1)
    .option('--out <file>', 'write one line or row a page to FILE.jsonl or FILE.csv')
    .option('--allow-private', 'fetch private and loopback addresses too')
    .option('--json', 'print the summary as one JSON object, the last line of stdout')
    .action(async (urls: string[], options: CrawlOptions) => {
      const stored = options.spider ? await readSpider(options.spider) : DEFAULT_SPIDER
      const spider = adjusted(stored, options)
      const seeds = urls.map((url) => checkSeed(url, spider.allowPrivate))
      if (seeds.length === 0 && startUrls(spider).length === 0)
        throw new UserError('There is nowhere to begin; give a URL, or a spider file with seeds.')
      if (options.out) await checkOutput(options.out)
      // What is wrong with the arguments is told before the libraries for the rest are loaded.
      const { crawlAlone } = await import('./crawl-alone')
      process.exitCode = await crawlAlone({ stored, spider, seeds, options })
    })
}

/** What this run obeys: the spider with what the options change. */
function adjusted(spider: Spider, options: CrawlOptions): Spider {
  return {
    ...spider,
    maxPages: options.maxPages ?? spider.maxPages,
    follow: { ...spider.follow, depth: options.depth ?? spider.follow.depth },
    allowPrivate: options.allowPrivate || spider.allowPrivate || env().ALLOW_PRIVATE,
  }
}
