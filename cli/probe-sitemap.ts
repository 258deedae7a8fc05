import type { Command } from 'commander'
import { z } from 'zod'
import { readSitemap } from '../worker/sitemap/read-sitemap'
import { bytesOf, bytesSchema, probe } from './probe'

const schema = bytesSchema.extend({
  /** Where it was found. */
  url: z.string().default('http://sitemap.example/sitemap.xml'),
  contentType: z.string().nullish(),
})

/** `orbweaver sitemap`: what a sitemap lists. */
export function sitemapCommand(program: Command): void {
  program
    .command('sitemap')
    .description(
      'read a sitemap; without one, JSON lines {file, text or base64, url?, contentType?} on standard input',
    )
    .argument('[file]', 'index, urlset, feed or list of URLs, gzipped or not; - for standard input')
    .option('--url <url>', 'where it was found')
    .option('--content-type <value>', 'the Content-Type header it came with')
    .action((file: string | undefined, options: { url?: string; contentType?: string }) =>
      probe({ schema, main: 'file', answer }, file === undefined ? null : { file, ...options }),
    )
}

const answer = async (input: z.output<typeof schema>): Promise<object> =>
  readSitemap(await bytesOf(input), input.contentType ?? null, input.url)
