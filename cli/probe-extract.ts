import type { Command } from 'commander'
import { z } from 'zod'
import { DEFAULT_SPIDER, type Spider } from '../core/spider'
import { checkSpider } from '../core/spider-check'
import { resolveUrl, webUrl } from '../core/url'
import type { Taken } from '../worker/code/messages'
import { type CompiledSpider, compileSpider } from '../worker/extract/compile-spider'
import { type PageContent, readData, readPage } from '../worker/extract/read-page'
import { decodeHtml, decodeJson, decodeXml } from '../worker/fetch/charset'
import { documentType } from '../worker/fetch/document-type'
import { codeSpiders } from './code-spider'
import { readSpider } from './crawl-input'
import { bytesOf, bytesSchema, probe } from './probe'

const schema = bytesSchema.extend({
  /** URL of the page, after redirects. */
  url: z.string().default('http://page.example/'),
  contentType: z.string().nullish(),
  /** A spider file, or the spider itself; absent: the default one. */
  spider: z.union([z.string(), z.looseObject({})]).optional(),
})

interface Options {
  url?: string
  spider?: string
  contentType?: string
}

/** `orbweaver extract`: what a spider takes from a page, and the links it finds there. */
export function extractCommand(program: Command): void {
  program
    .command('extract')
    .description(
      'read items and links of a page; without one, JSON lines {file, text or base64, url?, contentType?, spider?} on standard input',
    )
    .argument('[file]', 'HTML, XML or JSON as it came, without Content-Encoding; - for standard input')
    .option('--url <url>', 'URL of the page, after redirects')
    .option('--spider <file>', 'spider file (JSON or TypeScript); the default spider when not given')
    .option('--content-type <value>', 'the Content-Type header it came with')
    .action((file: string | undefined, options: Options) =>
      probe({ schema, main: 'file', answer }, file === undefined ? null : { file, ...options }),
    )
}

async function answer(input: z.output<typeof schema>): Promise<object> {
  const body = await bytesOf(input)
  const contentType = input.contentType ?? null
  const spider = compileSpider(await spiderOf(input.spider))
  const url = resolveUrl(input.url) ?? webUrl(input.url)
  const { text, charset, read } = contentOf(body, contentType, url, spider)
  if (spider.spider.code === undefined) return { charset, ...read }
  const page = { url, text, contentType: contentType ?? 'text/html' }
  const { items, ...asked } = await codeAnswer(spider.spider.code, page, read)
  return { charset, ...read, items: [...read.items, ...items], ...asked }
}

function contentOf(body: Buffer, contentType: string | null, url: string, spider: CompiledSpider) {
  const type = documentType(body, contentType)
  if (type === 'json' || type === 'xml') {
    const { text, charset } = (type === 'json' ? decodeJson : decodeXml)(body, contentType)
    return { text, charset, read: readData(text, type, url, spider) }
  }
  const { text, charset } = decodeHtml(body, contentType)
  return { text, charset, read: readPage(text, url, spider) }
}

/** What the code of a spider takes, beside what its rules took. */
async function codeAnswer(
  name: string,
  page: { url: string; text: string; contentType: string },
  { title, links, items }: PageContent,
): Promise<Taken> {
  const code = codeSpiders()
  try {
    const rest = { requested: page.url, status: 200, headers: {}, depth: 0, referrer: null, meta: null }
    return await code.parse(name, { ...page, ...rest, title, links, items })
  } finally {
    code.close()
  }
}

/** @throws UserError that says what is wrong with it. */
export async function spiderOf(given: string | object | undefined): Promise<Spider> {
  if (given === undefined) return DEFAULT_SPIDER
  return typeof given === 'string' ? readSpider(given) : checkSpider(given)
}
