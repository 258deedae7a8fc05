import { RE2JS } from 're2js'
import { compileFollow, type FollowRules } from '../../core/scope'
import type { Field, ItemRule, Spider } from '../../core/spider'
import { checkSpider } from '../../core/spider-check'
import { compileSelector, type Selector } from './selector'

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
  each: Selector | null
  fields: CompiledField[]
}

export interface CompiledField extends Omit<Field, 'css' | 'regex'> {
  name: string
  select: Selector | null
  pattern: RE2JS | null
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
    each: rule.each === undefined ? null : compileSelector(rule.each),
    fields: Object.entries(rule.fields).map(([name, { css, regex, ...field }]) => ({
      ...field,
      name,
      select: css === undefined ? null : compileSelector(css),
      pattern: regex === undefined ? null : RE2JS.compile(regex),
    })),
  }
}
