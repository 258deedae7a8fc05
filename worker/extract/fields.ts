import type { RE2JS } from 're2js'
import { tryCanonicalise } from '../../core/url'
import { BudgetSpent, budget } from './budget'
import type { CompiledField, CompiledItem } from './compile-spider'
import { cleanJson } from './json-value'
import { innerHtml, textOf } from './node-text'
import { parsed } from './page-data'
import { json, type Page, type Place } from './place'
import { collapse, storable } from './text'
import { buildTree, type TreeElement } from './tree'
import { coerced, urlOf } from './values'

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

/** What a document's text is. */
export type Syntax = 'html' | 'xml' | 'json'

/**
 * The items of a document by those rules that apply to its URL. A field without a value is null (a list: empty); an item
 * without any value is none. The document is parsed only when a rule applies; what is no JSON holds no items.
 */
export function readItems(
  text: string,
  syntax: Syntax,
  url: string,
  base: string,
  rules: CompiledItem[],
): FoundItems {
  const found: FoundItems = { items: [], incomplete: 0, cut: false }
  const canonical = tryCanonicalise(url) ?? url
  const mine = rules.filter((rule) => rule.appliesTo(canonical))
  if (mine.length === 0) return found
  budget.refill()
  const { root, cut } = buildTree(syntax === 'json' ? '' : text, syntax === 'xml')
  found.cut = cut
  const start = syntax === 'json' ? json(parsed(text) ?? null) : root
  const page: Page = { base, root, start, read: new Map() }
  try {
    for (const rule of mine) readRule(rule, page, found)
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
    found.cut = true
  }
  return found
}

function readRule(rule: CompiledItem, page: Page, found: FoundItems): void {
  const places = rule.each ? rule.each(page.start, page, true) : [page.start]
  for (const place of places) {
    if (found.items.length === MAX_ITEMS) {
      found.cut = true
      return
    }
    const data = readFields(rule.fields, place, page)
    if (data === 'incomplete') found.incomplete++
    else if (data) found.items.push({ name: rule.name, data })
  }
}

/** Null: there is none of the values; defaults do not make an object. */
function readFields(
  fields: CompiledField[],
  place: Place,
  page: Page,
): Record<string, unknown> | 'incomplete' | null {
  const values = fields.map((field) => readField(field, place, page))
  if (values.every(isEmpty)) return null
  const filled = values.map((value, n) => (isEmpty(value) ? (fields[n]!.default ?? value) : value))
  if (fields.some((field, n) => field.required && isEmpty(filled[n]))) return 'incomplete'
  return Object.fromEntries(fields.map((field, n) => [field.name, filled[n]]))
}

function isEmpty(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0)
}

function readField(field: CompiledField, at: Place, page: Page): unknown {
  const values: unknown[] = []
  for (const place of targets(field, at, page)) {
    for (const value of valuesIn(field, place, page)) {
      if (value === null) continue
      if (!field.list) return value
      values.push(value)
      if (values.length === MAX_LIST) return values
    }
  }
  return field.list ? values : null
}

/** Where the field is read: without `list` the first match alone counts, whatever it holds. */
function targets({ source, list }: CompiledField, at: Place, page: Page): Place[] {
  if (!source) return [at]
  const found = source(at, page, list)
  return list ? found : found.slice(0, 1)
}

function* valuesIn(field: CompiledField, place: Place, page: Page): Generator<unknown> {
  if (field.fields) {
    const value = readFields(field.fields, place, page)
    // A part without what it needs is left out; the item around it is not.
    if (value !== 'incomplete') yield value
  } else if (field.type === 'json' && place.type === 'json' && !field.pattern && field.changes.length === 0)
    yield cleanJson(place.value)
  else
    for (const text of texts(field, place, page.base))
      yield field.type === 'json' ? cleanJson(parsed(text) ?? null) : kept(coerced(field, text, page.base))
}

function kept<T>(value: T): T {
  budget.keep(typeof value === 'string' ? value.length : 1)
  return value
}

/** The texts in a place that become values: one, or with a pattern each match (of which a single field takes the first). */
function texts(field: CompiledField, place: Place, base: string): string[] {
  const text = rawText(field, place, base)
  if (text === null) return []
  const clean = storable(field.type === 'html' && field.attr === undefined ? text : collapse(text))
  let found = field.pattern ? matches(field.pattern, clean, field.list) : [clean]
  for (const change of field.changes) found = found.flatMap((one) => change(one, base)).slice(0, MAX_LIST)
  return found
}

function rawText(field: CompiledField, place: Place, base: string): string | null {
  if (place.type === 'json')
    return typeof place.value === 'object' || field.attr !== undefined ? null : String(place.value)
  const element = place.type === 'tag' ? place : null
  if (field.attr !== undefined) return element && attributeText(field, element, field.attr, base)
  if (field.type === 'html') return innerHtml(place)
  if (field.type === 'url' && !field.pattern && element)
    return attribute(element, 'href') ?? attribute(element, 'src') ?? textOf(place)
  return textOf(place)
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
