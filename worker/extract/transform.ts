import { RE2JS } from 're2js'
import type { Transform } from '../../core/spider'
import { BudgetSpent, budget } from './budget'
import { textOf } from './node-text'
import { collapse, storable } from './text'
import { buildTree } from './tree'
import { urlOf } from './values'

/** One text in, one or (of `split`) several out; `base` is what URLs are resolved against. */
export type Change = (text: string, base: string) => string[]

/** Characters that one replacement may come to, at the worst. */
const MAX_REPLACED = 10_000_000

export function compileTransform(transform: Transform): Change {
  switch (transform) {
    case 'trim':
      return (text) => [text.trim()]
    case 'lower':
      return (text) => [text.toLowerCase()]
    case 'upper':
      return (text) => [text.toUpperCase()]
    case 'absolute':
      return (text, base) => [urlOf(text, base) ?? '']
    case 'text':
      return (text) => {
        budget.spend(10 * text.length)
        return [collapse(textOf(buildTree(text).root))]
      }
  }
  if ('split' in transform) return (text) => text.split(transform.split).map((part) => part.trim())
  const pattern = RE2JS.compile(transform.replace)
  return (text) => {
    budget.spend(10 * text.length)
    if ((text.length + 1) * (transform.with.length + 1) > MAX_REPLACED)
      throw new BudgetSpent('The items of this page are too long.')
    const replaced = storable(pattern.matcher(text).replaceAll(transform.with))
    budget.spend(replaced.length)
    return [replaced]
  }
}
