import { budget } from './budget'
import { isObject, listOf } from './place'

const MAX_DEPTH = 64
/** Steps that a value costs that is looked at. */
const STEP = 40

/**
 * Values along names parted by points, in data after schema.org. A first name with a capital is a type, looked for at any
 * depth; lists are walked through. `Product.offers.price` gives the price of each offer of each product.
 */
export function alongNames(data: unknown[], path: string): unknown[] {
  const names = path.split('.')
  let values = data.flatMap((value) => listOf(value)).flatMap(graphOf)
  budget.spend(STEP * values.length)
  if (/^\p{Lu}/u.test(names[0]!)) values = ofType(values, names.shift()!)
  for (const name of names) {
    budget.spend(STEP * values.length)
    values = values.flatMap((value) =>
      isObject(value) && Object.hasOwn(value, name) ? listOf(value[name]) : [],
    )
  }
  return values
}

const graphOf = (value: unknown): unknown[] =>
  isObject(value) && Array.isArray(value['@graph']) ? [value, ...value['@graph']] : [value]

function ofType(values: unknown[], type: string): unknown[] {
  const found = new Set<unknown>()
  const seen = new Set<unknown>()
  const look = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH || seen.has(value)) return
    seen.add(value)
    const inside = Object.values(value)
    budget.spend(1 + inside.length)
    if (isObject(value) && typesOf(value).includes(type)) found.add(value)
    for (const one of inside) look(one, depth + 1)
  }
  for (const value of values) look(value, 0)
  return [...found]
}

/** Names of an object's types, without `https://schema.org/` or `schema:` before them. */
function typesOf(value: Record<string, unknown>): string[] {
  return listOf(value['@type']).map((type) =>
    typeof type === 'string' ? type.slice(-500).split(/[/#:]/).at(-1)! : '',
  )
}
