import { FunctionExpressionType, JSONPathEnvironment, JSONPathRecursionLimitError } from 'json-p3'
import { RE2JS } from 're2js'
import { BudgetSpent, budget } from './budget'

/** Deeper JSON is no data for readers, and walking it takes a stack. */
const MAX_DEPTH = 256
/** Steps that a value costs that is looked at, beside one for each level it lies deep. */
const LOOK = 80

type JsonValue = Parameters<JSONPathEnvironment['query']>[1]

const environment = new JSONPathEnvironment({ strict: true, maxRecursionDepth: MAX_DEPTH })
// The library's own hand patterns to JavaScript's RegExp, which a page can keep busy for ever.
for (const [name, whole] of [
  ['match', true],
  ['search', false],
] as const)
  environment.functionRegister.set(name, {
    argTypes: [FunctionExpressionType.ValueType, FunctionExpressionType.ValueType],
    returnType: FunctionExpressionType.LogicalType,
    call: (text: unknown, pattern: unknown) => matches(text, pattern, whole),
  })

/** @throws Error that says what is wrong with the path (RFC 9535). */
export function compileJsonPath(path: string): (value: unknown, all: boolean) => unknown[] {
  const query = environment.compile(path)
  return (value, all) => {
    if (typeof value !== 'object' || value === null) return path.trim() === '$' ? [value] : []
    const found: unknown[] = []
    try {
      for (const node of query.lazyQuery(watched(value, 0) as JsonValue)) {
        found.push(plain(node.value))
        if (!all) break
      }
    } catch (error) {
      // A filter over a list that is too long for JavaScript's stack of arguments ends in a RangeError.
      if (error instanceof JSONPathRecursionLimitError || error instanceof RangeError)
        throw new BudgetSpent('The JSON of this page is nested too deep, or its lists are too long.')
      throw error
    }
    return found
  }
}

function matches(text: unknown, pattern: unknown, whole: boolean): boolean {
  if (typeof text !== 'string' || typeof pattern !== 'string' || pattern.length > 1000) return false
  // A pattern may come out of the page's own data: short ones that stand for very many states match nothing.
  if (/\{\d*,?\d{3}/.test(pattern)) return false
  budget.spend(text.length * (10 + pattern.length) + 1000 * pattern.length)
  try {
    const compiled = RE2JS.compile(pattern)
    return whole ? compiled.matches(text) : compiled.test(text)
  } catch {
    // A pattern may come out of the data; what is none matches nothing (RFC 9535 §2.4.6).
    return false
  }
}

const targets = new WeakMap<object, object>()

/** The value, but each look into it is paid for: `$..*..*` takes time without end on JSON made for it. */
function watched(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  const proxy = new Proxy(value, {
    get(target, key, receiver) {
      budget.spend(LOOK + depth)
      return watched(Reflect.get(target, key, receiver), depth + 1)
    },
    ownKeys(target) {
      const keys = Reflect.ownKeys(target)
      budget.spend(LOOK * keys.length)
      return keys
    },
  })
  targets.set(proxy, value)
  return proxy
}

const plain = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? (targets.get(value) ?? value) : value
