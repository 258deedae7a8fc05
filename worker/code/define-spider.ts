import type { CheerioAPI } from 'cheerio'
import type { SpiderInput } from '../../core/spider'

/** What a spider in code is given of one fetched page. */
export interface Page {
  /** Final URL, after redirects. */
  readonly url: string
  /** The URL that was asked for. */
  readonly requested: string
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly contentType: string | null
  /** The body as text, in whatever character set it came. */
  readonly text: string
  /** Links away from the nearest seed, which itself has 0. */
  readonly depth: number
  /** The page that the link stood on; null for a seed. */
  readonly referrer: string | null
  /** What `request` attached, or the seed's own. */
  readonly meta: unknown
  readonly title: string | null
  /** URLs of its http(s) links, each once, before any rule of scope. Without those marked nofollow where they are obeyed. */
  readonly links: readonly string[]
  /** What the `items` of the spider took of the page. */
  readonly items: readonly { readonly name: string; readonly data: Readonly<Record<string, unknown>> }[]
  /** The page parsed, to be asked with CSS selectors as with jQuery (https://cheerio.js.org). */
  readonly $: CheerioAPI
  /** The body parsed as JSON. @throws SyntaxError for what is none. */
  json(): unknown
  /** A reference as it stands on the page, made whole (its base element counts); null for what is no http(s) URL. */
  absolute(reference: string | null | undefined): string | null
  /** Follows links as if they stood on the page: by the spider's rules of scope. What is no http(s) URL is passed over. */
  follow(...references: (string | null | undefined)[]): void
  /**
   * Asks for a URL whatever the rules of scope say; robots.txt, addresses and `maxPages` hold all the same.
   * @throws TypeError for what is no http(s) URL.
   */
  request(reference: string, options?: RequestOptions): void
  /**
   * Stores an item.
   * @param name letters, digits, - and _, beginning with a letter, 64 at most
   * @param data what JSON can hold
   * @throws TypeError for another name, or for what JSON cannot hold
   */
  item(name: string, data: Record<string, unknown>): void
}

export interface RequestOptions {
  /** −1000 … 1000; the highest goes first. The page's own when not given. */
  priority?: number
  /** What JSON can hold, 4,000 characters at most; `page.meta` of the page that comes. */
  meta?: unknown
}

/** A spider in code: what a spider file may say, and a function that reads each page. */
export interface CodeSpider extends Omit<SpiderInput, 'code'> {
  /** Called for each page of text (HTML, XML, JSON, plain text) that was fetched whole. */
  parse(page: Page): void | Promise<void>
}

/** Names the types, so that an editor can complete and check the spider; nothing else. */
export function defineSpider(spider: CodeSpider): CodeSpider {
  return spider
}
