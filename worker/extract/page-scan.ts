import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { ForeignContent } from './foreign-content'
import { readDirectives } from './robots-directives'

/** Links as written that are looked at; more of them on one page is no page for readers. */
export const MAX_WRITTEN_LINKS = 200_000

/** Lengths of the tag names that matter here, by first letter: tells most tags apart without cutting out their names. */
const LENGTHS: Record<string, number[]> = {
  a: [1, 4],
  b: [4],
  f: [5],
  h: [4],
  i: [6],
  l: [4],
  m: [4],
  s: [3],
  t: [5],
}
const MAY_MATTER = new Uint8Array(128 * 8)
for (const [letter, lengths] of Object.entries(LENGTHS))
  for (const length of lengths)
    for (const code of [letter.charCodeAt(0), letter.toUpperCase().charCodeAt(0)])
      MAY_MATTER[code * 8 + length] = 1

const READ = new Set(['a', 'area', 'base', 'frame', 'html', 'iframe', 'link', 'meta'])
type Attribute = 'href' | 'src' | 'rel' | 'name' | 'content' | 'http-equiv' | 'lang'
const ATTRIBUTES = new Set(['href', 'src', 'rel', 'name', 'content', 'http-equiv', 'lang'])

/**
 * What one pass over the tokens of a page finds, as written: no tree, no stack, so the time is linear in the page's length,
 * however it is nested. Comments, scripts and the like are not looked into, since the tokenizer knows them.
 */
export class PageScan implements TokenizerCallbacks {
  /** `href` of the first `<base>` that has one (HTML Standard §4.2.3), wherever it stands. */
  base: string | null = null
  title = ''
  description: string | null = null
  canonical: string | null = null
  language: string | null = null
  /** What the robots meta elements ask for, those for everybody and those for us. */
  nofollow = false
  noindex = false
  /** Links without their fragments, each spelling once, in order. */
  links = new Set<string>()
  /** More links than `MAX_WRITTEN_LINKS`: the rest was left out. */
  cut = false

  #foreign = new ForeignContent()
  #tag: string | null = null
  /** The tag's element belongs to SVG or MathML. */
  #isForeign = false
  #attributes: Partial<Record<Attribute, string>> = {}
  #attribute: Attribute | null = null
  #value = ''
  #inTitle = false

  constructor(
    private readonly html: string,
    /** Whether links with rel=nofollow are left out. */
    private readonly heedsNofollow: boolean,
    /** Our product token, in lower case. */
    private readonly token: string,
  ) {
    const tokenizer = new Tokenizer({}, this)
    tokenizer.write(html)
    tokenizer.end()
  }

  isInForeignContext(): boolean {
    return this.#foreign.inside
  }

  onopentagname(start: number, end: number): void {
    this.#tag = null
    this.#isForeign = false
    if (!this.#foreign.entered) {
      const length = end - start
      if (length > 6 || MAY_MATTER[this.html.charCodeAt(start) * 8 + length] !== 1) return
    }
    const name = this.html.slice(start, end).toLowerCase()
    this.#isForeign = this.#foreign.open(name)
    if (READ.has(name)) {
      this.#tag = name
      this.#attributes = {}
    } else if (this.#isForeign) this.#tag = name
    else if (name === 'title') this.#inTitle = this.title.trim() === ''
  }

  onattribname(start: number, end: number): void {
    if (this.#tag === null) return
    let name = this.html.slice(start, end).toLowerCase()
    if (name === 'xlink:href' && this.#foreign.inside) name = 'href'
    // Of attributes given twice the first counts.
    this.#attribute =
      ATTRIBUTES.has(name) && this.#attributes[name as Attribute] === undefined ? (name as Attribute) : null
    this.#value = ''
  }

  onattribdata(start: number, end: number): void {
    if (this.#attribute !== null) this.#value += this.html.slice(start, end)
  }

  onattribentity(codePoint: number): void {
    if (this.#attribute !== null) this.#value += String.fromCodePoint(codePoint)
  }

  onattribend(): void {
    if (this.#attribute === null) return
    this.#attributes[this.#attribute] = this.#value
    this.#attribute = null
  }

  onopentagend(): void {
    if (this.#tag !== null) this.#element(this.#tag, this.#attributes)
    this.#tag = null
  }

  onselfclosingtag(): void {
    if (this.#tag !== null && this.#isForeign) this.#foreign.close(this.#tag)
    this.onopentagend()
  }

  onclosetag(start: number, end: number): void {
    this.#inTitle = false
    if (this.#foreign.entered) this.#foreign.close(this.html.slice(start, end).toLowerCase())
  }

  ontext(start: number, end: number): void {
    if (this.#inTitle) this.title += this.html.slice(start, end)
  }

  ontextentity(codePoint: number): void {
    if (this.#inTitle) this.title += String.fromCodePoint(codePoint)
  }

  oncomment(): void {}
  oncdata(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  #element(tag: string, found: Partial<Record<Attribute, string>>): void {
    switch (tag) {
      case 'a':
      case 'area':
        if (!(this.heedsNofollow && found.rel !== undefined && words(found.rel).includes('nofollow')))
          this.#link(found.href)
        break
      case 'iframe':
      case 'frame':
        this.#link(found.src)
        break
      case 'link':
        this.#linkElement(words(found.rel ?? ''), found.href)
        break
      case 'base':
        this.base ??= found.href ?? null
        break
      case 'html':
        this.language ??= found.lang?.trim() || null
        break
      case 'meta':
        this.#meta(found)
    }
  }

  #linkElement(rel: string[], href: string | undefined): void {
    if (rel.includes('canonical')) this.canonical ??= href?.trim() || null
    if (rel.includes('next') || rel.includes('prev')) this.#link(href)
  }

  #meta(found: Partial<Record<Attribute, string>>): void {
    const { content = '' } = found
    const name = found.name?.trim().toLowerCase()
    if (name === 'description') this.description ??= content.trim() === '' ? null : content
    if (name === 'robots' || (name === this.token && name !== '')) {
      const asked = readDirectives(content)
      this.nofollow ||= asked.nofollow
      this.noindex ||= asked.noindex
    }
    switch (found['http-equiv']?.trim().toLowerCase()) {
      case 'refresh':
        this.#link(refreshTarget(content))
        break
      case 'content-language':
        this.language ??= content.trim() || null
    }
  }

  #link(written: string | undefined): void {
    if (written === undefined) return
    const mark = written.indexOf('#')
    if (this.links.size < MAX_WRITTEN_LINKS) this.links.add(mark === -1 ? written : written.slice(0, mark))
    else this.cut = true
  }
}

/** Words of an attribute, in lower case, whether blanks or commas part them. */
function words(text: string): string[] {
  return text.toLowerCase().split(/[\s,]+/)
}

/** The URL in `5; url=/next` (HTML Standard §4.2.4, "shared declarative refresh steps"). */
function refreshTarget(content: string): string | undefined {
  const target = /^\s*[\d.]+\s*[;,\s]\s*(?:url\s*=\s*)?(.*)$/is.exec(content)?.[1]
  if (!target) return undefined
  const quote = target[0]
  if (quote !== '"' && quote !== "'") return target
  const end = target.indexOf(quote, 1)
  return target.slice(1, end === -1 ? undefined : end)
}
