import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Command } from 'commander'
import { type BareResult, bareLoop } from '../bench/bare-loop'
import { benchEnqueue } from '../bench/enqueue'
import { benchHosts, serveHosts } from '../bench/hosts'
import { crawlWithProduct, type ProductResult } from '../bench/product'
import { type BenchSite, generatedSite, manualSite, servePages } from '../bench/site'
import { redisUrl } from '../core/env'
import { UserError } from '../core/errors'
import { startScheduler } from '../server/scheduler/scheduler'
import { numberIn } from './arguments'
import { withServices } from './with-services'

interface BenchOptions {
  pages: number
  manual?: boolean
  concurrency: number
  rounds: number
}

/** `orbweaver bench`: the whole product against a bare loop on the same site, in turns; and the speed of enqueueing. */
export function benchCommand(program: Command): void {
  const bench = program
    .command('bench')
    .description('pages per second of one worker, beside a bare in-memory loop on the same site')
    .option(
      '--pages <n>',
      'size of the site: generated pages of 38 KB',
      numberIn('--pages', 10, 10_000_000),
      2000,
    )
    .option(
      '--manual',
      'crawl the PostgreSQL 15 manual behind nginx instead (packages postgresql-doc-15, nginx)',
    )
    .option('--concurrency <n>', 'fetches at once, of both', numberIn('--concurrency', 1, 1000), 16)
    .option('--rounds <n>', 'how often both take their turn', numberIn('--rounds', 1, 100), 3)
    .action(async (options: BenchOptions) => {
      const site = options.manual ? await manualSite() : await generatedSite(options.pages)
      try {
        await compare(site, options)
      } finally {
        await site.stop()
      }
    })
  bench
    .command('enqueue')
    .description('URLs per second into a queue, Redis memory per URL, longest script')
    .option('--urls <n>', 'how many', numberIn('--urls', 1000, 100_000_000), 1_000_000)
    .action(({ urls }: { urls: number }) =>
      withServices('bench', async () => {
        for (const kind of ['exact', 'bloom'] as const)
          console.log(JSON.stringify(await benchEnqueue({ redisUrl: redisUrl(), n: urls, kind, say })))
      }),
    )
  bench
    .command('hosts')
    .description('memory of the fetching of a worker over many different hosts, all of them this machine')
    .option('--hosts <n>', 'how many', numberIn('--hosts', 100, 10_000_000), 100_000)
    .action(async ({ hosts }: { hosts: number }, command: Command) => {
      const { concurrency } = command.optsWithGlobals<BenchOptions>()
      console.log(JSON.stringify(await benchHosts({ hosts, concurrency, say })))
    })
  program.command('bench-hosts-site', { hidden: true }).action(serveHosts)
  // The two processes that `bench` itself starts.
  program.command('bench-site <pages>', { hidden: true }).action((pages: string) => servePages(Number(pages)))
  program
    .command('bench-bare <url> <concurrency>', { hidden: true })
    .action(async (url: string, concurrency: string) =>
      console.log(JSON.stringify(await bareLoop(url, Number(concurrency)))),
    )
}

const say = (message: string) => void process.stderr.write(`${message}\n`)

async function compare(site: BenchSite, { concurrency, rounds }: BenchOptions): Promise<void> {
  console.log(`Site: ${site.description}. Concurrency ${concurrency}, ${rounds} rounds, one worker.\n`)
  console.log('round   bare loop              product                ratio')
  const ratios: number[] = []
  let last: ProductResult | undefined
  await withServices('bench', async (services) => {
    const scheduler = await startScheduler(services)
    try {
      for (let round = 1; round <= rounds; round++) {
        const bare = await bareInItsOwnProcess(site.url, concurrency)
        const product = await crawlWithProduct(services, site.url, concurrency)
        if (product.pages !== bare.pages)
          throw new UserError(
            `The two did not crawl the same pages (${bare.pages} by the bare loop, ${product.pages} by the product); look at the run in the console.`,
          )
        const ratio = rate(product) / rate(bare)
        ratios.push(ratio)
        last = product
        console.log(`${String(round).padEnd(7)} ${figures(bare)} ${figures(product)} ${ratio.toFixed(3)}`)
      }
    } finally {
      await scheduler.stop()
    }
  })
  const sorted = ratios.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  const median = (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2
  console.log(
    `\nratio   min ${sorted[0]!.toFixed(3)}   median ${median.toFixed(3)}   max ${sorted.at(-1)!.toFixed(3)}`,
  )
  if (last) printMemory(last)
}

async function bareInItsOwnProcess(url: string, concurrency: number): Promise<BareResult> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    process.argv[1]!,
    'bench-bare',
    url,
    String(concurrency),
  ])
  return JSON.parse(stdout)
}

const rate = ({ pages, seconds }: { pages: number; seconds: number }) => pages / seconds

const figures = (result: { pages: number; seconds: number }) =>
  `${String(result.pages).padStart(6)} at ${rate(result).toFixed(0).padStart(5)} pages/s`.padEnd(22)

/** Ten readings of the worker's memory over the last crawl: flat means that it does not grow with the pages. */
function printMemory({ memory }: ProductResult): void {
  const step = Math.max(1, Math.floor(memory.length / 10))
  const readings = memory.filter((_, n) => n % step === step - 1)
  console.log('\nmemory of the worker, by pages done')
  for (const { pages, bytes } of readings)
    console.log(`${String(pages).padStart(7)}  ${(bytes / 1048576).toFixed(0)} MB`)
}
