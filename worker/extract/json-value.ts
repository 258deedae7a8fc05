import { budget } from './budget'
import { storable } from './text'

/** As deep as databases take JSON (MySQL's own limit is 100). */
const MAX_DEPTH = 90

/** JSON fit to be stored in an item: all text storable, all of it accounted for. Deeper values are null. @throws BudgetSpent */
export function cleanJson(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') {
    budget.keep(value.length)
    return storable(value)
  }
  budget.keep(1)
  if (typeof value !== 'object' || value === null) return value
  if (depth === MAX_DEPTH) return null
  if (Array.isArray(value)) return value.map((one) => cleanJson(one, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      budget.keep(key.length)
      return [storable(key), cleanJson(one, depth + 1)]
    }),
  )
}
