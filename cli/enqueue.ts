import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { env } from '../core/env'
import { UserError } from '../core/errors'
import { enqueue } from '../server/services/enqueue'
import { numberIn } from './arguments'
import { withServices } from './with-services'

interface EnqueueOptions {
  queue?: string
  spider?: string
  priority?: number
}

/** `orbweaver enqueue`: pushes URLs to the inbox of a queue, as any client of Redis could. */
export function enqueueCommand(program: Command): void {
  program
    .command('enqueue')
    .description('push URLs to the inbox of a queue')
    .argument('<source...>', 'URLs, files with one URL a line, or - for standard input')
    .option('--queue <name>', 'the queue (default: QUEUE_KEY)')
    .option('--spider <name>', 'the spider they are for (default: the built-in one)')
    .option(
      '--priority <n>',
      'from -1000 to 1000; the highest goes first',
      numberIn('--priority', -1000, 1000),
    )
    .action(async (sources: string[], options: EnqueueOptions) => {
      for (const source of sources) await checkSource(source)
      const queue = options.queue ?? env().QUEUE_KEY
      const started = performance.now()
      const pushed = await withServices('enqueue', (services) =>
        enqueue(services, queue, entries(sources, options)),
      )
      const seconds = (performance.now() - started) / 1000
      process.stderr.write(
        `Pushed ${pushed} ${pushed === 1 ? 'URL' : 'URLs'} to ${queue} in ${seconds.toFixed(1)} s; malformed ones go to ${queue}:rejected when a worker reads them.\n`,
      )
    })
}

async function checkSource(source: string): Promise<void> {
  if (source === '-' || isUrl(source)) return
  const there = await stat(source).catch(() => undefined)
  if (!there?.isFile())
    throw new UserError(
      `${source} is neither a URL with http:// or https:// nor a file; give one of these, or - for standard input.`,
    )
}

const isUrl = (text: string) => /^https?:\/\//i.test(text)

async function* entries(sources: string[], { spider, priority }: EnqueueOptions): AsyncGenerator<string> {
  const plain = spider === undefined && priority === undefined
  for await (const url of urls(sources)) yield plain ? url : JSON.stringify({ url, spider, priority })
}

async function* urls(sources: string[]): AsyncGenerator<string> {
  for (const source of sources) {
    if (isUrl(source)) {
      yield source
      continue
    }
    const input = source === '-' ? process.stdin : createReadStream(source)
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      const url = line.trim()
      if (url !== '' && !url.startsWith('#')) yield url
    }
  }
}
