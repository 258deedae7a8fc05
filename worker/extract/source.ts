import type { SourceRule } from '../../core/spider'
import { feedEntries } from './feed'
import { compileJsonPath } from './json-path'
import { microdataOf } from './microdata'
import { alongNames } from './name-path'
import { jsonIn, jsonLdOf, metaContents } from './page-data'
import { json, listOf, once, type Page, type Place } from './place'
import { compileSelector, type Selector } from './selector'
import { rowsOf } from './table'

/** Finds the places that a rule names, in order. Without `all` the first is enough. */
export type Source = (at: Place, page: Page, all: boolean) => Place[]

/**
 * The one source of a field or item; null: it stands where the item stands.
 * @param whole A list that a JSONPath leads to is wanted as it stands; else it is as good as its parts.
 */
export function compileSource(rule: SourceRule, whole = false): Source | null {
  if (rule.css !== undefined) return byCss(compileSelector(rule.css))
  if (rule.table !== undefined) return byTable(compileSelector(rule.table))
  if (rule.jsonpath !== undefined) return byJsonPath(rule.jsonpath, rule.script, whole)
  const { meta, openGraph, jsonLd, microdata, feed } = rule
  if (meta !== undefined) return (_, page) => metaContents(page, meta).map(json)
  if (openGraph !== undefined) {
    const name = openGraph.includes(':') ? openGraph : `og:${openGraph}`
    return (_, page) => metaContents(page, name).map(json)
  }
  if (jsonLd !== undefined) return (_, page) => alongNames(jsonLdOf(page), jsonLd).map(json)
  if (microdata !== undefined)
    return (at, page) => (at.type === 'json' ? [] : alongNames(microdataOf(at, page), microdata).map(json))
  if (feed) return (_, page) => once(page, feedEntries, () => feedEntries(page)).map(json)
  return null
}

function byCss(selector: Selector): Source {
  return (at, _, all) => {
    if (at.type === 'json') return []
    if (all) return selector.all(at)
    const first = selector.first(at)
    return first ? [first] : []
  }
}

function byTable(selector: Selector): Source {
  return (at, _, all) => {
    if (at.type === 'json') return []
    const first = all ? null : selector.first(at)
    return (all ? selector.all(at) : first ? [first] : []).flatMap(rowsOf).map(json)
  }
}

function byJsonPath(path: string, script: string | undefined, whole: boolean): Source {
  const find = compileJsonPath(path)
  const selector = script === undefined ? null : compileSelector(script)
  const found = (values: unknown[]) => (whole ? values : values.flatMap((value) => listOf(value))).map(json)
  return (at, page, all) => {
    if (!selector) return at.type === 'json' ? found(find(at.value, all)) : []
    if (at.type === 'json') return []
    // What a selector finds first need not be the script that is JSON.
    return selector.all(at).flatMap((element) => {
      const value = jsonIn(element, page)
      return value === undefined ? [] : found(find(value, all))
    })
  }
}
