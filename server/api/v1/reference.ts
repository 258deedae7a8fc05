import { type DocumentLanguage, openApiDocument } from './openapi'
import type { JsonObject, OpenApiOperation, Parameter } from './openapi-form'
import { sampleOf } from './sample'
import { typeText } from './type-text'

export interface ReferenceParameter {
  name: string
  in: 'path' | 'query' | 'header'
  type: string
  required: boolean
  description: string
}

/** An operation as the page /api/docs shows it. Types are those of TypeScript, which read well. */
export interface ReferenceOperation {
  id: string
  method: string
  path: string
  role: string
  summary: string
  description: string
  parameters: ReferenceParameter[]
  /** Null: it takes none. */
  body: string | null
  /** Null: there is nothing to say. */
  answer: string | null
  status: string
  curl: string
}

export interface Reference {
  introduction: string
  groups: { id: string; title: string; description: string; operations: ReferenceOperation[] }[]
  schemas: { name: string; type: string }[]
}

/** The document as people read it. */
export function apiReference(language: DocumentLanguage): Reference {
  const { info, tags, paths, components } = openApiDocument(language)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      tag: operation.tags[0],
      shown: view(method.toUpperCase(), path, operation, components.parameters as JsonObject),
    })),
  )
  return {
    introduction: info.description,
    groups: tags.map(({ name, 'x-displayName': title, description }) => ({
      id: name.toLowerCase(),
      title,
      description,
      operations: operations.filter(({ tag }) => tag === name).map(({ shown }) => shown),
    })),
    schemas: Object.entries(components.schemas).map(([name, schema]) => ({ name, type: typeText(schema) })),
  }
}

function view(
  method: string,
  path: string,
  operation: OpenApiOperation,
  shared: JsonObject,
): ReferenceOperation {
  const parameters = operation.parameters.map((parameter) =>
    '$ref' in parameter ? (shared[nameOf(parameter.$ref as string)] as Parameter) : (parameter as Parameter),
  )
  const body = contentOf(operation.requestBody)
  const [status, answer] = Object.entries(operation.responses)[0]!
  return {
    id: operation.operationId,
    method,
    path,
    role: operation['x-role'],
    summary: operation.summary,
    description: (operation.description as string | undefined) ?? '',
    parameters: parameters.map(({ name, in: where, schema, required, description }) => ({
      name,
      in: where as ReferenceParameter['in'],
      type: typeText(schema),
      required: required === true,
      description: (description as string | undefined) ?? '',
    })),
    body: body && shownType(body),
    answer: shownContent(contentOf(answer)),
    status,
    curl: curl(method, path, parameters, body),
  }
}

interface Content {
  type: string
  schema: JsonObject | undefined
}

const nameOf = (reference: string) => reference.slice(reference.lastIndexOf('/') + 1)

function contentOf(part: unknown): Content | null {
  const content = (part as { content?: { [type: string]: { schema?: JsonObject } } } | undefined)?.content
  if (!content) return null
  return { type: Object.keys(content).join(', '), schema: Object.values(content)[0]?.schema }
}

const shownContent = (content: Content | null) => content && shownType(content)
const shownType = ({ type, schema }: Content) => (schema ? typeText(schema) : type)

/** A command to try it with; ORBWEAVER is where the console is, KEY an API key. */
function curl(method: string, path: string, parameters: Parameter[], body: Content | null): string {
  const query = parameters
    .filter(({ in: where, required }) => where === 'query' && required === true)
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(sampleOf(schema, name)))}`)
    .join('&')
  const address = path.replace(/\{(\w+)\}/g, (_, name) => {
    const parameter = parameters.find((one) => one.name === name)!
    return encodeURIComponent(String(sampleOf(parameter.schema, name)))
  })
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"$ORBWEAVER/api/v1${address}${query && `?${query}`}"`,
    '-H "Authorization: Bearer $KEY"',
  ]
  if (body?.schema)
    lines.push(
      "-H 'Content-Type: application/json'",
      `-d '${JSON.stringify(sampleOf(body.schema, '')).replaceAll("'", "'\\''")}'`,
    )
  else if (body) lines.push('--data-binary @seeds.csv')
  return lines.join(' \\\n  ')
}
