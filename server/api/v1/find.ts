import type { Operation } from './operation'
import { operations } from './operations'
import { Problem } from './problem'

/**
 * The operation that a request means, and the values that its path has.
 * @param path below `/api/v1`, as it was sent.
 * @throws Problem 404 or 405.
 */
export function findOperation(
  method: string,
  path: string,
): { operation: Operation; values: Record<string, string> } {
  const parts = path.split('/').slice(1).map(decoded)
  const there = operations
    .flatMap((operation) => {
      const values = match(operation.parts, parts)
      return values ? [{ operation, values }] : []
    })
    // `pages/count` is no page of the name `count`.
    .sort((a, b) => Object.keys(a.values).length - Object.keys(b.values).length)
  if (there.length === 0)
    throw new Problem(
      404,
      'no_such_path',
      'There is nothing at this path; /api/docs lists the paths there are.',
    )
  const found = there.find(({ operation }) => operation.method === method)
  if (found) return found
  const allow = [...new Set(there.map(({ operation }) => operation.method))].join(', ')
  throw new Problem(405, 'method', `This path takes ${allow}.`, { allow })
}

function match(pattern: string[], parts: string[]): Record<string, string> | null {
  if (pattern.length !== parts.length) return null
  const values: [string, string][] = []
  for (const [at, part] of pattern.entries()) {
    const given = parts[at]!
    if (part.startsWith('{')) values.push([part.slice(1, -1), given])
    else if (part !== given) return null
  }
  return Object.fromEntries(values)
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Problem(400, 'path', 'The path has a % that begins no character; encode it as UTF-8.')
  }
}
