import { textOf } from './node-text'
import { elementsBelow } from './page-data'
import type { Page } from './place'
import { collapse } from './text'
import type { TreeElement } from './tree'
import { urlOf } from './values'

/** An entry of a feed, whichever kind. Texts as written: `summary` and `content` may be HTML. */
interface Entry {
  title: string | null
  link: string | null
  id: string | null
  published: string | null
  updated: string | null
  author: string | null
  summary: string | null
  content: string | null
  categories: string[]
  /** URL of the file that goes with it: a podcast's sound, say. */
  enclosure: string | null
}

/** The entries of an RSS (all versions) or Atom feed, in the feed's order. */
export function feedEntries(page: Page): Entry[] {
  return elementsBelow(page.root, ({ name }) => name === 'item' || name === 'entry').map((entry) =>
    read(entry, page.base),
  )
}

function read(entry: TreeElement, base: string): Entry {
  const parts = entry.children.filter((child): child is TreeElement => child.type === 'tag')
  const named = (names: string) => parts.filter((part) => names.split(' ').includes(part.name))
  const first = (...names: string[]) => {
    for (const name of names) {
      const text = collapse(named(name)[0] ? textOf(named(name)[0]!) : '')
      if (text) return text
    }
    return null
  }
  const links = named('link atom:link')
  const alternate = links.find(({ attribs }) => attribs.href && (attribs.rel ?? 'alternate') === 'alternate')
  const written = alternate?.attribs.href ?? first('link') ?? permalink(named('guid')[0])
  const file =
    named('enclosure')[0]?.attribs.url ??
    links.find(({ attribs }) => attribs.rel === 'enclosure')?.attribs.href
  const person = named('author')[0]
  const called = person && elementsBelow(person, ({ name }) => name === 'name')[0]
  return {
    title: first('title'),
    link: written === null ? null : urlOf(written, base),
    id: first('guid', 'id'),
    published: first('pubdate', 'published', 'issued', 'dc:date', 'updated'),
    updated: first('updated', 'modified', 'pubdate', 'dc:date'),
    author: called ? collapse(textOf(called)) : first('dc:creator', 'author'),
    summary: first('description', 'summary'),
    content: first('content:encoded', 'content'),
    categories: named('category dc:subject')
      .map((category) => category.attribs.term ?? collapse(textOf(category)))
      .filter((text) => text !== ''),
    enclosure: file === undefined ? null : urlOf(file, base),
  }
}

function permalink(guid: TreeElement | undefined): string | null {
  return guid && guid.attribs.ispermalink !== 'false' ? textOf(guid).trim() || null : null
}
