import { RE2JS } from 're2js'
import { compileFollow, type FollowRules } from '../../core/scope'
import type { Field, ItemRule, Spider } from '../../core/spider'
import { checkSpider } from '../../core/spider-check'
import { compileSource, type Source } from './source'
import { type Change, compileTransform } from './transform'

/** A spider ready for work: compiled once a run, asked for every page and link. */
export interface CompiledSpider extends FollowRules {
  spider: Spider
  /** null: the default item. */
  items: CompiledItem[] | null
}

export interface CompiledItem {
  name: string
  /** Whether the rule applies to a page, going by the page's canonical URL. */
  appliesTo(url: string): boolean
  /** Null: one item a page. */
  each: Source | null
  fields: CompiledField[]
}

export interface CompiledField
  extends Pick<Field, 'attr' | 'type' | 'decimal' | 'zone' | 'list' | 'required' | 'default'> {
  name: string
  /** Null: the item's own place. */
  source: Source | null
  pattern: RE2JS | null
  changes: Change[]
  /** Null: the value is no object. */
  fields: CompiledField[] | null
}

/** @throws UserError that names each wrong field, pattern and selector, as `checkSpider`. */
export function compileSpider(input: Spider): CompiledSpider {
  const spider = checkSpider(input)
  return {
    ...compileFollow(spider.follow),
    spider,
    // Beside code the default item would only be in the way.
    items: spider.items?.map(compileItem) ?? (spider.code === undefined ? null : []),
  }
}

function compileItem(rule: ItemRule): CompiledItem {
  const pattern = rule.url === undefined ? null : RE2JS.compile(rule.url)
  return {
    name: rule.name,
    appliesTo: (url) => pattern === null || pattern.test(url),
    each: compileSource(rule.from ?? { css: rule.each }),
    fields: compileFields(rule.fields),
  }
}

function compileFields(fields: Record<string, Field>): CompiledField[] {
  return Object.entries(fields).map(([name, field]) => ({
    ...field,
    name,
    source: compileSource(field, field.type === 'json' && !field.list),
    pattern: field.regex === undefined ? null : RE2JS.compile(field.regex),
    changes: (field.transforms ?? []).map(compileTransform),
    fields: field.fields ? compileFields(field.fields) : null,
  }))
}
