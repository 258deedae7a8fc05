import { type CheerioAPI, load } from 'cheerio'
import type { Page, RequestOptions } from './define-spider'
import type { PageInput, Taken } from './messages'

/** Items and URLs that one page may give. */
const MAX_TAKEN = 100_000
/** Characters of JSON over all items of a page, and of one request's `meta`. */
const MAX_ITEMS_JSON = 4_000_000
const MAX_META_JSON = 4_000
const ITEM_NAME = /^[a-zA-Z][\w-]{0,63}$/

/** The page that code is given, and what it takes by its helpers. What is wrong with a call is told where the call stands. */
export function openPage(input: PageInput): { page: Page; taken: Taken } {
  const taken: Taken = { items: [], follow: [], requests: [] }
  let room = MAX_ITEMS_JSON
  let parsed: CheerioAPI | undefined
  let base: string | undefined
  const tree = () => {
    parsed ??= load(input.text, {
      xml: /\bxml\b|\+xml/i.test(input.contentType ?? '') && !/html/i.test(input.contentType ?? ''),
    })
    return parsed
  }
  const absolute = (reference: string | null | undefined): string | null => {
    if (typeof reference !== 'string') return null
    base ??= resolve(tree()('base[href]').first().attr('href') ?? '', input.url) ?? input.url
    const url = resolve(reference, base)
    return url !== null && /^https?:/.test(url) ? url : null
  }
  const count = () => {
    if (taken.items.length + taken.follow.length + taken.requests.length >= MAX_TAKEN)
      throw new RangeError(`One page gives ${MAX_TAKEN.toLocaleString('en')} items and URLs at most.`)
  }
  const page: Page = {
    url: input.url,
    requested: input.requested,
    status: input.status,
    headers: input.headers,
    contentType: input.contentType,
    text: input.text,
    depth: input.depth,
    referrer: input.referrer,
    meta: input.meta === null ? undefined : JSON.parse(input.meta),
    title: input.title,
    links: input.links,
    items: input.items,
    get $() {
      return tree()
    },
    json: () => JSON.parse(input.text),
    absolute,
    follow(...references) {
      for (const reference of references) {
        const url = absolute(reference)
        if (url === null) continue
        count()
        taken.follow.push(url)
      }
    },
    request(reference, { priority, meta }: RequestOptions = {}) {
      count()
      const url = absolute(reference)
      if (url === null) throw new TypeError(`request: ${JSON.stringify(reference)} is no http(s) URL.`)
      if (priority !== undefined && !(Number.isInteger(priority) && Math.abs(priority) <= 1000))
        throw new TypeError(`request: priority is ${priority}; give a whole number from -1000 to 1000.`)
      const text = meta === undefined ? null : json(meta, 'request: meta')
      if (text !== null && text.length > MAX_META_JSON)
        throw new RangeError(
          `request: meta has ${text.length} characters as JSON; ${MAX_META_JSON} is the most.`,
        )
      taken.requests.push({ url, priority: priority ?? null, meta: text })
    },
    item(name, data) {
      count()
      if (!ITEM_NAME.test(name))
        throw new TypeError(
          `item: the name ${JSON.stringify(name)} cannot be used; names are letters, digits, - and _, beginning with a letter.`,
        )
      if (typeof data !== 'object' || data === null || Array.isArray(data))
        throw new TypeError(`item "${name}": give an object with a value for each field.`)
      const text = json(data, `item "${name}"`)
      room -= text.length
      if (room < 0) throw new RangeError('The items of one page have 4 million characters at most.')
      taken.items.push({ name, data: JSON.parse(text) })
    },
  }
  return { page, taken }
}

function resolve(reference: string, base: string): string | null {
  return URL.canParse(reference, base) ? new URL(reference, base).href : null
}

function json(value: unknown, what: string): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    throw new TypeError(`${what} cannot be written as JSON: ${(error as Error).message.split('\n')[0]}`)
  }
  if (text === undefined)
    throw new TypeError(`${what} cannot be written as JSON; give an object, a text or a number.`)
  return text
}
