import { openApiDocument } from './openapi'
import type { JsonObject, OpenApiOperation } from './openapi-form'
import { operations } from './operations'
import { commentText, memberText, typeText } from './type-text'

/** The TypeScript client of this API as one file without dependencies; examples/client/orbweaver.generated.ts is the copy on record. */
export function typescriptClient(): string {
  const { paths, components } = openApiDocument()
  const described = new Map(
    Object.values(paths).flatMap((methods) =>
      Object.values(methods).map((operation) => [operation.operationId, operation] as const),
    ),
  )
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `export interface ${name} ${typeText(schema)}\n`,
  )
  const types = operations.map(({ id }) => operationType(described.get(id)!))
  const routes = operations.map(({ id, method, parts, query, once, files }) =>
    routeText(id, {
      method,
      path: `/${parts.join('/')}`,
      query: Object.keys(query.shape),
      once,
      file: files.sent ? 'sent' : files.taken !== undefined ? 'taken' : undefined,
    }),
  )
  return [
    HEAD,
    ...schemas,
    `/** What each operation takes and answers. */\nexport interface Operations {\n${types.join('')}}\n`,
    `const ROUTES: { [O in keyof Operations]: Route } = {\n${routes.join('')}}\n`,
    BODY,
  ].join('\n')
}

/** Path, query and body together, by name: no operation has the same name in two of them. */
function operationType(operation: OpenApiOperation): string {
  const { operationId, summary, parameters, requestBody, responses } = operation
  const members: [string, string][] = []
  for (const parameter of parameters)
    if (!('$ref' in parameter)) {
      const { name, schema, description, required } = parameter as {
        name: string
        schema: JsonObject
        description?: string
        required?: boolean
      }
      members.push([
        name,
        memberText(name, { ...schema, description: description ?? null }, required !== true, '      '),
      ])
    }
  const body = schemaOf(requestBody)
  if (body === 'file')
    members.push([
      'file',
      '      /** The content of the file. */\n      file: BodyInit & (Blob | string | Uint8Array)\n',
    ])
  else if (body)
    for (const [name, schema] of Object.entries(body.properties as { [name: string]: JsonObject }))
      members.push([
        name,
        memberText(name, schema, !((body.required ?? []) as string[]).includes(name), '      '),
      ])
  const names = members.map(([name]) => name)
  if (new Set(names).size < names.length)
    throw new Error(`${operationId} has one name in two places: ${names.join(', ')}; rename one of them.`)
  const answer = schemaOf(Object.values(responses)[0])
  const input = members.length === 0 ? '{}' : `{\n${members.map(([, text]) => text).join('')}    }`
  const said = answer === null ? 'void' : answer === 'file' ? 'Response' : typeText(answer, '    ')
  return `${commentText(summary, '  ')}  ${operationId}: {\n    input: ${input}\n    answer: ${said}\n  }\n`
}

/** `file` for what is no JSON, null for nothing. */
function schemaOf(part: unknown): JsonObject | 'file' | null {
  const content = (part as { content?: { [type: string]: { schema?: JsonObject } } } | undefined)?.content
  if (!content) return null
  return content['application/json']?.schema ?? 'file'
}

interface Route {
  method: string
  path: string
  query: string[]
  once: boolean
  file: string | undefined
}

function routeText(id: string, { method, path, query, once, file }: Route): string {
  const parts = [`method: '${method}'`, `path: '${path}'`]
  if (query.length > 0) parts.push(`query: [${query.map((name) => `'${name}'`).join(', ')}]`)
  if (once) parts.push('once: true')
  if (file) parts.push(`file: '${file}'`)
  return `  ${id}: { ${parts.join(', ')} },\n`
}

const HEAD = `// The client of Orbweaver's API, made from its description (/api/v1/openapi.json). It needs nothing but fetch: Node 20 or
// newer, Deno, Bun or a browser. Take the file as it is; a running Orbweaver has its own at /api/v1/typescript.
`

const BODY = `interface Route {
  method: string
  path: string
  query?: readonly string[]
  /** It is sent with an Idempotency-Key, so that it may be sent again. */
  once?: boolean
  file?: 'sent' | 'taken'
}

/** What the API refused, or could not do. */
export class OrbweaverError extends Error {
  readonly status: number
  /** A word for programs, such as \`run_unknown\`. */
  readonly code: string
  /** Names the request in the log of the console. */
  readonly request: string

  constructor(status: number, { code, message, request }: Problem['error']) {
    super(message)
    this.name = 'OrbweaverError'
    this.status = status
    this.code = code
    this.request = request
  }
}

type Call<I, A> = (...given: Record<never, never> extends I ? [input?: I, signal?: AbortSignal] : [input: I, signal?: AbortSignal]) => Promise<A>

/** Each operation as a method. */
export type Orbweaver = { [O in keyof Operations]: Call<Operations[O]['input'], Operations[O]['answer']> }

const MOST_TRIES = 4
const LONGEST_WAIT_S = 60

/**
 * @param address where the console is, such as http://localhost:3000
 * @param key an API key.
 * Methods throw an OrbweaverError for what was refused. When a key asks too often or the other side is away for a moment,
 * what can be sent again is sent again, four times at most.
 */
export function createOrbweaver(address: string, key: string): Orbweaver {
  const base = \`\${address.replace(/\\/+$/, '')}/api/v1\`
  return Object.fromEntries(
    Object.entries(ROUTES).map(([id, route]) => [
      id,
      (input: Record<string, unknown> = {}, signal?: AbortSignal) => call(base, key, route, input, signal),
    ]),
  ) as unknown as Orbweaver
}

/** All entries of a list, from answer to answer: \`for await (const run of entriesOf(orbweaver.listRuns, {})) …\`. */
export async function* entriesOf<I extends { cursor?: string }, T>(
  list: (input: I) => Promise<{ data: T[]; next: string | null }>,
  input: I,
): AsyncGenerator<T> {
  let cursor: string | null | undefined
  do {
    const { data, next } = await list(cursor ? { ...input, cursor } : input)
    yield* data
    cursor = next
  } while (cursor !== null)
}

async function call(base: string, key: string, route: Route, input: Record<string, unknown>, signal?: AbortSignal) {
  const rest = { ...input }
  const take = (name: string) => {
    const value = rest[name]
    delete rest[name]
    return value
  }
  const path = route.path.replace(/\\{(\\w+)\\}/g, (_, name: string) => encodeURIComponent(String(take(name))))
  const query = new URLSearchParams()
  for (const name of route.query ?? []) {
    const value = take(name)
    if (value !== undefined) query.set(name, String(value))
  }
  const headers: Record<string, string> = { authorization: \`Bearer \${key}\` }
  let body: BodyInit | undefined
  if (route.file === 'taken') body = take('file') as BodyInit
  else if (Object.keys(rest).length > 0) {
    headers['content-type'] = 'application/json'
    body = JSON.stringify(rest)
  }
  if (route.once) headers['idempotency-key'] = crypto.randomUUID()
  const again = route.method === 'GET' || route.once === true
  for (let tries = 1; ; tries++) {
    const response = await fetch(\`\${base}\${path}\${query.size > 0 ? \`?\${query}\` : ''}\`, {
      method: route.method,
      headers,
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    })
    if (response.ok) {
      if (route.file === 'sent') return response
      return response.status === 204 ? undefined : response.json()
    }
    const wait = Number(response.headers.get('retry-after') ?? Number.NaN)
    if (again && tries < MOST_TRIES && wait >= 0 && wait <= LONGEST_WAIT_S) {
      await response.body?.cancel()
      await new Promise((resolve) => setTimeout(resolve, wait * 1000))
      continue
    }
    const told = (await response.json().catch(() => undefined)) as Problem | undefined
    throw new OrbweaverError(
      response.status,
      told?.error ?? { code: 'unknown', message: \`Orbweaver answered \${response.status}.\`, request: '' },
    )
  }
}
`
