import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { z } from 'zod'
import { env, variable } from '../../core/env'
import { sentence, UserError } from '../../core/errors'

const secret = z.string().min(1).max(4000)
const address = z.url({ protocol: /^https?$/ })
const files = {
  folder: z.string().min(1),
  /** Whether each day (UTC) has a file of its own. */
  rotate: z.enum(['day', 'never']).default('day'),
}
/** Whether addresses may be connected to that are not public. */
const allowPrivate = z.boolean().default(false)
/** How long a batch that is not full waits for more. */
const seconds = (fallback: number) => z.number().min(0).max(3600).default(fallback)

const sinkSchema = z.discriminatedUnion('kind', [
  /** A file a spider (and day) of one JSON object a line. */
  z.strictObject({ kind: z.literal('jsonl'), ...files }),
  /** The same as CSV. */
  z.strictObject({
    kind: z.literal('csv'),
    ...files,
    /** Fields of items, after the columns `id`, `url`, `fetchedAt` and `name`. */
    columns: z.array(z.string().min(1)).min(1).max(500),
  }),
  /** A POST of `{sink, items}` as JSON, signed. */
  z.strictObject({
    kind: z.literal('webhook'),
    url: address,
    secret: secret.min(16),
    /** Items of one request, unless a single page has more. */
    items: z.number().int().min(1).max(10_000).default(100),
    seconds: seconds(0),
    allowPrivate,
  }),
  /** Elasticsearch or OpenSearch, by their bulk interface. */
  z.strictObject({
    kind: z.literal('elasticsearch'),
    url: address,
    index: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,200}$/, 'is not the name of an index'),
    user: z.string().optional(),
    password: secret.optional(),
    apiKey: secret.optional(),
    allowPrivate,
  }),
  /** A stream in a Redis, with `id` and `item` in each entry. */
  z.strictObject({
    kind: z.literal('redis-stream'),
    url: z.url({ protocol: /^rediss?$/ }),
    key: z.string().min(1),
    /** Entries that are kept, roughly; absent: all. */
    maxLength: z.number().int().min(1).optional(),
  }),
  /** Objects of JSON lines in a store that speaks S3, addressed by path. */
  z.strictObject({
    kind: z.literal('s3'),
    endpoint: address,
    bucket: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'is not a name for a bucket'),
    region: z.string().min(1).default('us-east-1'),
    accessKey: secret,
    secretKey: secret,
    /** Begin of the names of all objects. */
    prefix: z
      .string()
      .regex(/^([\w.-]+\/)*$/, 'must be empty, or words that each end with /')
      .default('items/'),
    seconds: seconds(60),
  }),
])

const fileSchema = z.strictObject({
  sinks: z.record(z.string().regex(/^[a-zA-Z0-9][\w-]{0,63}$/), sinkSchema),
})

export type SinkSettings = z.output<typeof sinkSchema>

/** Values of a sink that no log, table or page may show. */
export function secretsOf(settings: SinkSettings): string[] {
  const { secret, password, apiKey, accessKey, secretKey, url } = settings as Record<string, unknown>
  const addressed = typeof url === 'string' ? new URL(url) : null
  const hidden = [
    ...[secret, password, apiKey, accessKey, secretKey, addressed?.password],
    ...(addressed?.searchParams.values() ?? []),
  ]
  return hidden.filter((value): value is string => typeof value === 'string' && value.length > 3)
}

/**
 * The sinks of SINKS_FILE (YAML or JSON) by name; none when there is no such variable. `${NAME}` in a value stands for that
 * variable of the environment, so that no secret need be in the file.
 * @throws UserError that names the file, the place and what is wrong there.
 */
export async function readSinks(): Promise<Map<string, SinkSettings>> {
  const file = env().SINKS_FILE
  if (file === undefined) return new Map()
  const wrong = (what: string) => new UserError(`The sinks of ${file} (SINKS_FILE) cannot be used: ${what}.`)
  let written: unknown
  try {
    written = parse(await readFile(file, 'utf8'))
  } catch (error) {
    throw wrong(sentence(error).split('\n')[0]!.replace(/[.:]$/, ''))
  }
  const missing = new Set<string>()
  const result = fileSchema.safeParse(filledIn(written, missing))
  if (missing.size > 0)
    throw wrong(`the environment has no ${[...missing].join(', ')}; set it for the scheduler`)
  if (!result.success)
    throw wrong(
      result.error.issues
        .map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`)
        .join('; '),
    )
  return new Map(Object.entries(result.data.sinks))
}

function filledIn(value: unknown, missing: Set<string>): unknown {
  if (typeof value === 'string')
    return value.replace(/\$\{([A-Za-z_]\w*)\}/g, (_, name: string) => {
      const found = variable(name)
      if (found === undefined) missing.add(name)
      return found ?? ''
    })
  if (Array.isArray(value)) return value.map((part) => filledIn(part, missing))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, filledIn(part, missing)]))
}
