import { z } from 'zod'
import chinese from '../../../messages/api.zh-CN.json'
import type { Json, JsonObject, OpenApi, OpenApiOperation, Parameter } from './openapi-form'
import { METHODS, type Operation } from './operation'
import { operations } from './operations'
import { problemSchema } from './problem'

export const LANGUAGES = ['en', 'zh-CN'] as const
export type DocumentLanguage = (typeof LANGUAGES)[number]

/** Members of the document that people read. */
export const TEXTS = ['summary', 'description', 'x-displayName']
export const PARAGRAPH = '\n\n'

/** What each group of operations is about, in the order of the document. */
const TAGS = {
  Spiders: 'What to crawl and what to take from it. Every change makes a version.',
  Seeds: 'The URLs that runs of a spider begin with.',
  Schedules: 'When runs begin by themselves.',
  Runs: 'One crawl of a spider, from its seeds to its last page.',
  Pages: 'What became of each URL of a run.',
  Items: 'What was taken from the pages of a run.',
  Queues: 'Inboxes, their settings, and the hosts that wait behind them.',
  Workers: 'Who works, and requests for more or fewer of them.',
  Figures: 'Numbers of this moment and of the past.',
  Alerts: 'What is watched, what fires, and who was told.',
  Changes: 'The audit log.',
} as const

const INTRODUCTION = [
  'Send an API key as `Authorization: Bearer <key>`. A key has a role: a viewer reads, an operator also starts, stops and changes crawls, an administrator also changes alert rules and reads the audit log.',
  'Bodies are JSON in UTF-8. Times are ISO 8601 in UTC. A field or parameter that is not described is refused; answers may get new fields.',
  'Lists answer with `data` and `next`: send `next` as `cursor` to go on, until it is null.',
  'What did not go well answers with a status of 400 and above and a Problem, whose `code` is for programs and whose `message` says what to do.',
  'Where an `Idempotency-Key` is taken, a request that is sent again under the same key within a day gets the first answer and is not carried out again.',
  'A key that sends too many requests gets 429, and everybody 503 while the database or Redis is away; `Retry-After` says for how many seconds to wait.',
].join(PARAGRAPH)

const IDEMPOTENCY_KEY = { $ref: '#/components/parameters/IdempotencyKey' }
const jsonOf = (schema: Json): JsonObject => ({ 'application/json': { schema } })

const made = new Map<DocumentLanguage, OpenApi>()

/** The OpenAPI 3.1 document of `/api/v1`, made from the operations themselves; its texts are in the language asked for. */
export function openApiDocument(language: DocumentLanguage = 'en'): OpenApi {
  let document = made.get(language)
  if (!document) {
    document = language === 'en' ? english() : (translated(openApiDocument(), chinese) as OpenApi)
    made.set(language, document)
  }
  return document
}

/** Each paragraph of each text that has a translation; others stay as they are. */
function translated(json: Json, words: Record<string, string>): Json {
  if (Array.isArray(json)) return json.map((one) => translated(one, words))
  if (json === null || typeof json !== 'object') return json
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => [
      name,
      TEXTS.includes(name) && typeof value === 'string'
        ? value
            .split(PARAGRAPH)
            .map((text) => words[text] ?? text)
            .join(PARAGRAPH)
        : translated(value, words),
    ]),
  )
}

function english(): OpenApi {
  const schemas: { [name: string]: JsonObject } = {}
  const schemaOf = (schema: z.ZodType, io: 'input' | 'output') => toSchema(schema, io, schemas)
  const problem = schemaOf(problemSchema, 'output')
  const paths: OpenApi['paths'] = {}
  for (const operation of operations) {
    const path = `/${operation.parts.join('/')}`
    paths[path] ??= {}
    paths[path][operation.method.toLowerCase()] = described(operation, schemaOf)
  }
  for (const [path, methods] of Object.entries(paths))
    paths[path] = Object.fromEntries(
      METHODS.map((method) => method.toLowerCase()).flatMap((method) =>
        methods[method] ? [[method, methods[method]]] : [],
      ),
    )
  return {
    openapi: '3.1.0',
    info: { title: 'Orbweaver', version: '1', description: INTRODUCTION },
    servers: [{ url: '/api/v1' }],
    security: [{ key: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, 'x-displayName': name, description })),
    paths,
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'An API key, `orb_…`.' } },
      parameters: {
        IdempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          description: 'Names what is to be done, such as a UUID: it is done once.',
          schema: { type: 'string', minLength: 1, maxLength: 200 },
        },
      },
      responses: { Problem: { description: 'It did not go well.', content: jsonOf(problem) } },
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  }
}

type SchemaOf = (schema: z.ZodType, io: 'input' | 'output') => JsonObject

function described(operation: Operation, schemaOf: SchemaOf): OpenApiOperation {
  const { id, tag, summary, description, role, once } = operation
  const body = bodyOf(operation, schemaOf)
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    'x-role': role,
    parameters: [
      ...parameters(operation.path, 'path', schemaOf),
      ...parameters(operation.query, 'query', schemaOf),
      ...(once ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(body && { requestBody: { required: true, content: body } }),
    responses: {
      [operation.status]: answerOf(operation, schemaOf),
      default: { $ref: '#/components/responses/Problem' },
    },
  }
}

function parameters(schema: z.ZodObject, where: 'path' | 'query', schemaOf: SchemaOf): Parameter[] {
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
    properties?: { [name: string]: JsonObject }
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: where,
    ...(required.includes(name) && { required: true }),
    ...(description !== undefined && { description }),
    schema,
  }))
}

function bodyOf({ body, files }: Operation, schemaOf: SchemaOf): JsonObject | null {
  if (files.taken !== undefined) return { [files.taken]: {} }
  return body && jsonOf(schemaOf(body, 'input'))
}

function answerOf({ files, output }: Operation, schemaOf: SchemaOf): JsonObject {
  if (files.sent)
    return {
      description: 'The file.',
      content: Object.fromEntries(files.sent.map((type) => [type, {}])),
    }
  if (!output) return { description: 'It is done.' }
  return { description: 'It went well.', content: jsonOf(schemaOf(output, 'output')) }
}

/** A schema as JSON Schema 2020-12; those that have a name go into `named` and are referred to. */
function toSchema(
  schema: z.ZodType,
  io: 'input' | 'output',
  named: { [name: string]: JsonObject },
): JsonObject {
  const made = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // The bounds that every whole number has here, and what `format` and `type` say already.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern
      delete jsonSchema.propertyNames
      // Answers may get new fields; a client that refused them would break.
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
      delete jsonSchema.id
    },
  })
  const { $schema, $defs = {}, ...rest } = referring(made) as JsonObject & { $defs?: JsonObject }
  for (const [name, definition] of Object.entries($defs)) named[name] ??= definition as JsonObject
  return rest
}

/** The same with its references as the document has them. */
function referring(json: unknown): Json {
  if (Array.isArray(json)) return json.map(referring)
  if (json === null || typeof json !== 'object') return json as Json
  return Object.fromEntries(
    Object.entries(json)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [
        name,
        name === '$ref' && typeof value === 'string'
          ? value.replace('#/$defs/', '#/components/schemas/')
          : referring(value),
      ]),
  )
}
