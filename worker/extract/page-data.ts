import { budget } from './budget'
import { textOf } from './node-text'
import { once, type Page } from './place'
import type { TreeElement, TreeParent } from './tree'

/** Contents of the meta elements of a page that have this name, property, http-equiv or itemprop. Case does not count. */
export function metaContents(page: Page, name: string): string[] {
  const metas = once(page, metaContents, () => {
    const found = new Map<string, string[]>()
    for (const { attribs } of elementsBelow(page.root, (element) => element.name === 'meta')) {
      if (attribs.content === undefined) continue
      for (const key of [attribs.name, attribs.property, attribs['http-equiv'], attribs.itemprop]) {
        const called = key?.trim().toLowerCase()
        if (!called) continue
        const contents = found.get(called)
        if (contents) contents.push(attribs.content)
        else found.set(called, [attribs.content])
      }
    }
    return found
  })
  return metas.get(name.trim().toLowerCase()) ?? []
}

/** What the JSON-LD blocks of a page hold; a block that is no JSON is passed over. */
export function jsonLdOf(page: Page): unknown[] {
  return once(page, jsonLdOf, () =>
    elementsBelow(
      page.root,
      ({ name, attribs }) => name === 'script' && /^\s*application\/ld\+json\b/i.test(attribs.type ?? ''),
    ).flatMap((script) => {
      const value = jsonIn(script, page)
      return value === undefined ? [] : [value]
    }),
  )
}

/** JSON of a script element, also where it is assigned (`window.state = {…};`) or in a comment; undefined for none. */
export function jsonIn(script: TreeElement, page: Page): unknown {
  const read = once(page, jsonIn, () => new Map<TreeElement, unknown>())
  if (!read.has(script)) read.set(script, scriptJson(script))
  return read.get(script)
}

function scriptJson(script: TreeElement): unknown {
  const source = textOf(script)
  budget.spend(source.length)
  const whole = parsed(source)
  if (whole !== undefined) return whole
  // JSON allows no line break within a text, and pages have them there all the same.
  const text = source.replace(/<!\[CDATA\[|[\0-\x1f]/g, ' ')
  for (const from of [0, text.indexOf('=')]) {
    const value = parsed(firstValue(text.slice(from)))
    if (value !== undefined) return value
  }
  return undefined
}

/** The first object or list in a script, up to the bracket that ends it; program text may follow. */
function firstValue(text: string): string {
  const start = text.search(/[{[]/)
  if (start === -1) return ''
  let open = 0
  let quoted = false
  for (let at = start; at < text.length; at++) {
    const mark = text[at]
    if (quoted && mark === '\\') at++
    else if (mark === '"') quoted = !quoted
    else if (!quoted && (mark === '{' || mark === '[')) open++
    else if (!quoted && (mark === '}' || mark === ']') && --open === 0) return text.slice(start, at + 1)
  }
  return ''
}

/** Undefined for what is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Elements below a node for which `wanted` holds, in document order. */
export function elementsBelow(node: TreeParent, wanted: (element: TreeElement) => boolean): TreeElement[] {
  const found: TreeElement[] = []
  const visit = (parent: TreeParent): void => {
    budget.spend(1 + parent.children.length)
    for (const child of parent.children) {
      if (child.type !== 'tag') continue
      if (wanted(child)) found.push(child)
      visit(child)
    }
  }
  visit(node)
  return found
}
