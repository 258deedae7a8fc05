import type { Json, JsonObject } from './openapi-form'

/** A JSON Schema of the document as a type of TypeScript; `indent` is that of the line it begins on. */
export function typeText(schema: JsonObject, indent = ''): string {
  const { $ref, anyOf, oneOf = anyOf, type } = schema
  if (typeof $ref === 'string') return $ref.slice($ref.lastIndexOf('/') + 1)
  if ('const' in schema) return JSON.stringify(schema.const)
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (Array.isArray(oneOf)) return oneOf.map((one) => typeText(one as JsonObject, indent)).join(' | ')
  if (Array.isArray(type)) return type.map((one) => typeText({ ...schema, type: one }, indent)).join(' | ')
  switch (type) {
    case 'integer':
    case 'number':
      return 'number'
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'array':
      return arrayText(schema.items as JsonObject, indent)
    case 'object':
      return objectText(schema, indent)
    default:
      return 'unknown'
  }
}

function arrayText(items: JsonObject, indent: string): string {
  const one = typeText(items, indent)
  return one.includes(' | ') && !one.startsWith('{') ? `(${one})[]` : `${one}[]`
}

/** A member of an object, with what is said of it above it. */
export const memberText = (name: string, schema: JsonObject, optional: boolean, indent: string) =>
  `${commentText(schema.description, indent)}${indent}${name}${optional ? '?' : ''}: ${typeText(schema, indent)}\n`

export const commentText = (text: Json | undefined, indent: string) =>
  typeof text === 'string' ? `${indent}/** ${text.replaceAll('*/', '* /')} */\n` : ''

function objectText({ properties, required, additionalProperties }: JsonObject, indent: string): string {
  const members = Object.entries((properties ?? {}) as { [name: string]: JsonObject })
  const others = additionalProperties && typeText(additionalProperties as JsonObject, indent)
  if (members.length === 0) return `Record<string, ${others || 'never'}>`
  const inner = `${indent}  `
  const lines = members.map(([name, schema]) =>
    memberText(name, schema, !((required ?? []) as string[]).includes(name), inner),
  )
  if (others) lines.push(`${inner}[name: string]: ${others}\n`)
  return `{\n${lines.join('')}${indent}}`
}
