import { budget } from './budget'
import { textOf } from './node-text'
import { elementsBelow } from './page-data'
import { once, type Page } from './place'
import { collapse } from './text'
import type { TreeElement, TreeParent } from './tree'
import { urlOf } from './values'

type Data = Record<string, unknown>

/** The topmost items of microdata below a node (HTML Standard §5.2), as JSON-LD would say them. */
export function microdataOf(node: TreeParent, page: Page): Data[] {
  // One walk gives the data of all fields of an item.
  const read = once(page, microdataOf, () => new Map<TreeParent, Data[]>())
  let found = read.get(node)
  if (!found) {
    found = new Walk(page).below(node)
    read.set(node, found)
  }
  return found
}

/** Each item is made once and walked once, also where several refer to it or two to each other. */
class Walk {
  #made = new Map<TreeElement, Data>()
  #tops = new Set<Data>()
  /** Items with an `itemref` that has not been followed yet. */
  #referring: [TreeElement, Data][] = []

  constructor(private readonly page: Page) {}

  below(node: TreeParent): Data[] {
    if (node.type === 'tag' && node.attribs.itemscope !== undefined) this.#element(node, null)
    else this.#children(node, null)
    // Following one may find more of them.
    for (const [element, item] of this.#referring) this.#follow(element, item)
    return [...this.#tops]
  }

  #children(parent: TreeParent, owner: Data | null): void {
    budget.spend(1 + parent.children.length)
    for (const child of parent.children) if (child.type === 'tag') this.#element(child, owner)
  }

  #element(element: TreeElement, owner: Data | null): void {
    const known = this.#made.get(element)
    const item = element.attribs.itemscope === undefined ? null : (known ?? this.#make(element))
    budget.spend(5 * (element.attribs.itemprop?.length ?? 0))
    const names = owner && new Set(element.attribs.itemprop?.split(/\s+/).filter(Boolean))
    if (owner && names && names.size > 0) {
      const value = item ?? propertyValue(element, this.page.base)
      for (const name of names) if (value !== owner) add(owner, name, value)
      if (known) this.#tops.delete(known)
    } else if (item && !known) this.#tops.add(item)
    if (!known) this.#children(element, item ?? owner)
  }

  #make(element: TreeElement): Data {
    const { itemtype, itemid, itemref } = element.attribs
    const types = (itemtype ?? '').split(/\s+/).filter(Boolean)
    const item = {
      ...(types.length > 0 && { '@type': types.length === 1 ? types[0] : types }),
      ...(itemid !== undefined && { '@id': itemid }),
    }
    this.#made.set(element, item)
    if (itemref !== undefined) this.#referring.push([element, item])
    return item
  }

  #follow(element: TreeElement, item: Data): void {
    for (const id of new Set(element.attribs.itemref!.split(/\s+/))) {
      const other = idsOf(this.page).get(id)
      budget.spend(100)
      if (other && !isWithin(other, element)) this.#element(other, item)
    }
  }
}

function idsOf(page: Page): Map<string, TreeElement> {
  return once(page, idsOf, () => {
    const ids = new Map<string, TreeElement>()
    for (const element of elementsBelow(page.root, ({ attribs }) => !!attribs.id))
      if (!ids.has(element.attribs.id!)) ids.set(element.attribs.id!, element)
    return ids
  })
}

function isWithin(element: TreeElement, outer: TreeElement): boolean {
  for (let at: TreeParent = element; at.type === 'tag'; at = at.parent) {
    budget.spend(1)
    if (at === outer) return true
  }
  return false
}

function add(owner: Record<string, unknown>, name: string, value: unknown): void {
  if (!Object.hasOwn(owner, name))
    Object.defineProperty(owner, name, { value, enumerable: true, writable: true, configurable: true })
  else if (Array.isArray(owner[name])) owner[name].push(value)
  else owner[name] = [owner[name], value]
}

const URL_OF: Record<string, string> = {
  ...{ a: 'href', area: 'href', link: 'href', object: 'data' },
  ...{ audio: 'src', embed: 'src', iframe: 'src', img: 'src', source: 'src', track: 'src', video: 'src' },
}
const VALUE_OF: Record<string, string> = { meta: 'content', data: 'value', meter: 'value', time: 'datetime' }

function propertyValue(element: TreeElement, base: string): string {
  const { name, attribs } = element
  const url = Object.hasOwn(URL_OF, name) ? attribs[URL_OF[name]!] : undefined
  if (url !== undefined) return urlOf(url, base) ?? ''
  const value = Object.hasOwn(VALUE_OF, name) ? attribs[VALUE_OF[name]!] : undefined
  // Shops write `<span itemprop=price content=12.5>12,50 €</span>`, against the standard and as search engines read it.
  return value ?? attribs.content ?? collapse(textOf(element))
}
