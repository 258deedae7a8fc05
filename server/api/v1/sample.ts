import type { Json, JsonObject } from './openapi-form'

const HASH = '0f115db062b7c0dd030b16878c99dea5c354b49dc37b38eb8846179c7783e9d7'
/** Values that say more than what a schema alone could make up. */
const KNOWN: Record<string, Json> = {
  spider: 'shop',
  queue: 'crawl_queue',
  url: 'https://example.com/',
  urls: ['https://example.com/'],
  host: 'example.com',
  hash: HASH,
  hashes: [HASH],
  name: 'nightly',
  cron: '0 3 * * *',
  zone: 'Asia/Shanghai',
  kind: 'page',
  origin: 'https://example.com',
  proxies: ['socks5://proxy.example:1080'],
  definition: { name: 'shop', maxPages: 100 },
}

/** A value that a schema of the document takes, with as little in it as makes sense. @param name of the field that it is for. */
export function sampleOf(schema: JsonObject, name: string): Json {
  const { anyOf, oneOf = anyOf, enum: values, type } = schema
  if ('const' in schema) return schema.const!
  if (Array.isArray(values)) return values[0]!
  if (Array.isArray(oneOf)) return sampleOf(oneOf[0] as JsonObject, name)
  if (Object.hasOwn(KNOWN, name)) return KNOWN[name]!
  if ('default' in schema) return schema.default!
  switch (Array.isArray(type) ? type[0] : type) {
    case 'integer':
    case 'number':
      return Math.max(1, (schema.minimum as number | undefined) ?? 1)
    case 'boolean':
      return true
    case 'array':
      return [sampleOf(schema.items as JsonObject, '')]
    case 'object':
      return sampleObject(schema)
    default:
      return schema.format === 'date-time' ? '2027-01-01T00:00:00Z' : 'text'
  }
}

/** What is required, and where nothing is, the first. */
function sampleObject({ properties, required }: JsonObject): Json {
  const members = Object.entries((properties ?? {}) as { [name: string]: JsonObject })
  const needed = members.filter(([name]) => ((required ?? []) as string[]).includes(name))
  return Object.fromEntries(
    (needed.length > 0 ? needed : members.slice(0, 1)).map(([name, schema]) => [
      name,
      sampleOf(schema, name),
    ]),
  )
}
