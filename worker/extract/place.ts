import type { TreeParent, TreeRoot } from './tree'

/** A value out of JSON, or out of what was made like it (the rows of a table, the entries of a feed). */
export interface JsonPlace {
  type: 'json'
  value: unknown
}

/** Where a field is read: a node of the page, or a value of its data. */
export type Place = TreeParent | JsonPlace

/** The document that items are taken from. */
export interface Page {
  /** What URLs are resolved against. */
  base: string
  /** Empty for a JSON answer. */
  root: TreeRoot
  /** Where rules without `each` begin: the root of the tree, or the value of a JSON answer. */
  start: Place
  /** What sources have read already, by source: JSON-LD is parsed once for all the fields that ask for it. */
  read: Map<unknown, unknown>
}

/** What `make` gives, made once a page. */
export function once<T>(page: Page, key: unknown, make: () => T): T {
  if (!page.read.has(key)) page.read.set(key, make())
  return page.read.get(key) as T
}

export const json = (value: unknown): JsonPlace => ({ type: 'json', value })

/** A value's parts when it is a list, else itself; null and undefined are nothing. */
export function listOf(value: unknown): unknown[] {
  if (value === null || value === undefined) return []
  return Array.isArray(value) ? value : [value]
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
