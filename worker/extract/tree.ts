import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { ForeignContent } from './foreign-content'

/** A parsed page: as little of it as selectors and values need. */
export interface TreeElement {
  type: 'tag'
  /** In lower case, SVG's too. */
  name: string
  attribs: Record<string, string>
  parent: TreeParent
  children: TreeNode[]
}
export interface TreeText {
  type: 'text'
  data: string
  parent: TreeParent
}
export interface TreeRoot {
  type: 'root'
  children: TreeNode[]
}
export type TreeNode = TreeElement | TreeText | TreeRoot
export type TreeParent = TreeElement | TreeRoot

/** As deep as browsers build. What is nested deeper becomes children, side by side, of the element at this depth. */
const MAX_DEPTH = 512
/** Elements of a page that are kept; at some 200 bytes each they are what a page costs in memory. */
const MAX_ELEMENTS = 300_000

/** Elements that end when one of those to the left begins beside them (HTML Standard §13.1.2.4, optional tags). */
const ENDS: Record<string, string> = {
  li: 'li',
  dt: 'dt dd',
  dd: 'dt dd',
  tr: 'tr td th caption colgroup',
  td: 'td th',
  th: 'td th',
  thead: 'caption colgroup',
  tbody: 'thead tbody tr td th caption colgroup',
  tfoot: 'thead tbody tr td th caption colgroup',
  option: 'option',
  optgroup: 'option optgroup',
  rt: 'rt rp',
  rp: 'rt rp',
  body: 'head',
  a: 'a',
}
for (const block of (
  'address article aside blockquote details div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr ' +
  'main nav ol p pre section table ul'
).split(' '))
  ENDS[block] = 'p'
const ENDED_BY = new Map(Object.entries(ENDS).map(([name, ended]) => [name, new Set(ended.split(' '))]))

const VOID = new Set('area base br col embed frame hr img input link meta param source track wbr'.split(' '))

/** Whether an element never has content. */
export function isVoid(name: string): boolean {
  return VOID.has(name)
}

/**
 * The tree of a page, for selectors. Takes time and memory in proportion to the page, however it is nested.
 * @param xml Whether it is XML: no element is void or ends another, `<x/>` is whole, CDATA is text. Names are in lower case
 * all the same.
 */
export function buildTree(html: string, xml = false): { root: TreeRoot; cut: boolean } {
  const builder = new TreeBuilder(html, xml)
  return { root: builder.root, cut: builder.cut }
}

class TreeBuilder implements TokenizerCallbacks {
  readonly root: TreeRoot = { type: 'root', children: [] }
  /** The page has more than `MAX_ELEMENTS`: the rest was left out. */
  cut = false

  #tokenizer: Tokenizer
  /** Elements that are open, the innermost last. */
  #stack: TreeElement[] = []
  /** How often each name is open, so that a stray end tag costs no search. */
  #open = new Map<string, number>()
  #foreign = new ForeignContent()
  #elements = 0
  #element: TreeElement | null = null
  /** The element belongs to SVG or MathML, where `<path/>` is whole. */
  #closesItself = false
  #attribute = ''
  #value = ''

  constructor(
    private readonly html: string,
    private readonly xml: boolean,
  ) {
    this.#tokenizer = new Tokenizer({ xmlMode: xml }, this)
    this.#tokenizer.write(html)
    this.#tokenizer.end()
  }

  isInForeignContext(): boolean {
    return this.#foreign.inside
  }

  onopentagname(start: number, end: number): void {
    if (++this.#elements > MAX_ELEMENTS) {
      this.cut = true
      this.#tokenizer.pause()
      return
    }
    const name = this.html.slice(start, end).toLowerCase()
    this.#closesItself = this.xml || this.#foreign.open(name)
    if (!this.#closesItself) this.#endBefore(name)
    const parent = this.#stack[Math.min(this.#stack.length, MAX_DEPTH) - 1] ?? this.root
    this.#element = { type: 'tag', name, attribs: {}, parent, children: [] }
    parent.children.push(this.#element)
  }

  onattribname(start: number, end: number): void {
    this.#attribute = this.html.slice(start, end).toLowerCase()
    this.#value = ''
  }

  onattribdata(start: number, end: number): void {
    this.#value += this.html.slice(start, end)
  }

  onattribentity(codePoint: number): void {
    this.#value += String.fromCodePoint(codePoint)
  }

  onattribend(): void {
    const attribs = this.#element?.attribs
    if (attribs && !Object.hasOwn(attribs, this.#attribute)) attribs[this.#attribute] = this.#value
  }

  onopentagend(): void {
    const element = this.#element
    this.#element = null
    if (!element || (isVoid(element.name) && !this.xml)) return
    this.#stack.push(element)
    this.#open.set(element.name, (this.#open.get(element.name) ?? 0) + 1)
  }

  onselfclosingtag(): void {
    if (this.#element && this.#closesItself) {
      this.#foreign.close(this.#element.name)
      this.#element = null
    }
    // In HTML the slash means nothing.
    this.onopentagend()
  }

  onclosetag(start: number, end: number): void {
    const name = this.html.slice(start, end).toLowerCase()
    this.#foreign.close(name)
    if (isVoid(name) && !this.xml) return
    if (!this.#open.get(name)) return
    while (this.#leave() !== name);
  }

  ontext(start: number, end: number): void {
    this.#text(this.html.slice(start, end))
  }

  ontextentity(codePoint: number): void {
    this.#text(String.fromCodePoint(codePoint))
  }

  oncdata(start: number, end: number, endOffset: number): void {
    if (this.#foreign.inside || this.xml) this.#text(this.html.slice(start, end - endOffset))
  }

  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  #text(data: string): void {
    const parent = this.#stack.at(-1) ?? this.root
    const last = parent.children.at(-1)
    if (last?.type === 'text') last.data += data
    else parent.children.push({ type: 'text', data, parent })
  }

  #endBefore(name: string): void {
    const ended = ENDED_BY.get(name)
    if (!ended) return
    while (this.#stack.length > 0 && ended.has(this.#stack.at(-1)!.name)) this.#leave()
  }

  /** Closes the innermost element; answers its name. */
  #leave(): string {
    const { name } = this.#stack.pop()!
    this.#open.set(name, this.#open.get(name)! - 1)
    return name
  }
}
