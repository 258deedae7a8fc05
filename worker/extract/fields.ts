import type { RE2JS } from 're2js'
import { tryCanonicalise } from '../../core/url'
import { BudgetSpent, budget } from './budget'
import type { CompiledField, CompiledItem } from './compile-spider'
import { innerHtml, textOf } from './node-text'
import { collapse, storable } from './text'
import { buildTree, type TreeElement, type TreeParent } from './tree'
import { coerced, urlOf, type Value } from './values'

const MAX_ITEMS = 10_000
/** Values in one list. */
const MAX_LIST = 10_000

export interface Item {
  name: string
  data: Record<string, unknown>
}

export interface FoundItems {
  items: Item[]
  /** Items left out because a required field had no value. */
  incomplete: number
  /** The page held more than is taken. */
  cut: boolean
}

/**
 * The items of a page by those rules that apply to its URL. A field without a value is null (a list: empty); an item without
 * any value is none. The tree is built only when a rule applies.
 */
export function readItems(html: string, url: string, base: string, rules: CompiledItem[]): FoundItems {
  const found: FoundItems = { items: [], incomplete: 0, cut: false }
  const canonical = tryCanonicalise(url) ?? url
  const mine = rules.filter((rule) => rule.appliesTo(canonical))
  if (mine.length === 0) return found
  budget.refill()
  const { root, cut } = buildTree(html)
  found.cut = cut
  try {
    for (const rule of mine) readRule(rule, root, base, found)
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
    found.cut = true
  }
  return found
}

function readRule(rule: CompiledItem, root: TreeParent, base: string, found: FoundItems): void {
  const nodes: TreeParent[] = rule.each ? rule.each.all(root) : [root]
  for (const node of nodes) {
    if (found.items.length === MAX_ITEMS) {
      found.cut = true
      return
    }
    const data = Object.fromEntries(rule.fields.map((field) => [field.name, readField(field, node, base)]))
    if (Object.values(data).every(isEmpty)) continue
    if (rule.fields.some((field) => field.required && isEmpty(data[field.name]!))) found.incomplete++
    else found.items.push({ name: rule.name, data })
  }
}

function isEmpty(value: Value | Value[]): boolean {
  return value === null || (Array.isArray(value) && value.length === 0)
}

function readField(field: CompiledField, node: TreeParent, base: string): Value | Value[] {
  const values: Value[] = []
  for (const target of targets(field, node)) {
    for (const text of texts(field, target, base)) {
      const value = kept(coerced(field.type, text, base))
      if (value === null) continue
      if (!field.list) return value
      values.push(value)
      if (values.length === MAX_LIST) return values
    }
  }
  return field.list ? values : null
}

function kept(value: Value): Value {
  budget.keep(typeof value === 'string' ? value.length : 1)
  return value
}

/** Where the field is read: without `list` the first match alone counts, whatever it holds. */
function targets({ select, list }: CompiledField, node: TreeParent): TreeParent[] {
  if (!select) return [node]
  if (list) return select.all(node)
  const first = select.first(node)
  return first ? [first] : []
}

/** The texts in a node that become values: one, or with a pattern each match (of which a single field takes the first). */
function texts(field: CompiledField, node: TreeParent, base: string): string[] {
  const text = rawText(field, node, base)
  if (text === null) return []
  const clean = storable(field.type === 'html' && field.attr === undefined ? text : collapse(text))
  return field.pattern ? matches(field.pattern, clean, field.list) : [clean]
}

function rawText(field: CompiledField, node: TreeParent, base: string): string | null {
  const element = node.type === 'tag' ? node : null
  if (field.attr !== undefined) return element && attributeText(field, element, field.attr, base)
  if (field.type === 'html') return innerHtml(node)
  if (field.type === 'url' && !field.pattern && element)
    return attribute(element, 'href') ?? attribute(element, 'src') ?? textOf(node)
  return textOf(node)
}

function attributeText(
  field: CompiledField,
  element: TreeElement,
  name: string,
  base: string,
): string | null {
  const value = attribute(element, name.toLowerCase())
  if (value === null) return null
  // `<input checked>`: that the attribute stands there is its value.
  if (field.type === 'boolean') return value.trim() === '' ? 'true' : value
  return /^(href|src)$/i.test(name) ? (urlOf(value, base) ?? '') : value
}

function attribute(element: TreeElement, name: string): string | null {
  return Object.hasOwn(element.attribs, name) ? element.attribs[name]! : null
}

function matches(pattern: RE2JS, text: string, all: boolean): string[] {
  // What re2js takes a character is some ten times what a step of a selector takes.
  budget.spend(10 * text.length)
  const found: string[] = []
  for (const match of pattern.matchAll(text)) {
    found.push((match[1] ?? match[0]).trim())
    if (!all || found.length === MAX_LIST) break
  }
  return found
}
