import { z } from 'zod'
import { renderSchema } from './render-rules'

/**
 * What a spider file may say (JSON). The same schema validates files of the CLI, the console's editor and the rows in MySQL.
 * Regular expressions are RE2 syntax: linear time, whatever the page. Times are seconds, as operators write them.
 */
const regex = z.string().min(1).max(1000)
const selector = z.string().min(1).max(1000)

const name = z.string().regex(/^[a-zA-Z][\w-]{0,63}$/)
const path = z.string().min(1).max(1000)

/** Where values stand; at most one of these (`script` goes with `jsonpath`). Absent: the item's place itself. */
const sources = {
  /** CSS selector below the item's node. `:scope` is not needed. */
  css: selector.optional(),
  /** Content of the meta element with this `name`, `property`, `http-equiv` or `itemprop`. */
  meta: z.string().min(1).max(200).optional(),
  /** Content of an Open Graph property: `title` stands for `og:title`, while `article:author` is taken as written. */
  openGraph: z.string().min(1).max(200).optional(),
  /** Names parted by points, in all JSON-LD blocks of the page; one with a capital first is a type: `Product.offers.price`. */
  jsonLd: path.optional(),
  /** As `jsonLd`, in the microdata below the item's node. */
  microdata: path.optional(),
  /** JSONPath (RFC 9535) in the item's own value, a JSON answer, or the script element that `script` chooses. */
  jsonpath: path.optional(),
  script: selector.optional(),
  /** CSS selector of tables: their rows, as objects that have the header cells for keys. */
  table: selector.optional(),
  /** The entries of an RSS or Atom feed. */
  feed: z.literal(true).optional(),
}
export const SOURCES = [
  'css',
  'meta',
  'openGraph',
  'jsonLd',
  'microdata',
  'jsonpath',
  'table',
  'feed',
] as const
export type SourceKind = (typeof SOURCES)[number]
export const sourceSchema = z.strictObject(sources)
export type SourceRule = z.output<typeof sourceSchema>

/** Steps from the text that was found to the text that becomes a value. */
const transformSchema = z.union([
  /** `text`: what a reader sees of HTML. `absolute`: a URL resolved against the page. */
  z.enum(['trim', 'lower', 'upper', 'text', 'absolute']),
  /** RE2 pattern; `$1` in `with` is its first group. */
  z.strictObject({ replace: regex, with: z.string().max(200) }),
  /** One value becomes several, parted by this text. */
  z.strictObject({ split: z.string().min(1).max(100) }),
])
export type Transform = z.output<typeof transformSchema>

const scalar = z.union([z.string().max(10_000), z.number(), z.boolean()])

const plainField = z.strictObject({
  ...sources,
  /** Attribute to read instead of the text; `href` and `src` become absolute URLs. */
  attr: z.string().min(1).max(100).optional(),
  /** RE2 pattern on the text; its first group, or the whole match, is the value. */
  regex: regex.optional(),
  /** Applied in order to what was found, before it becomes a value of `type`. */
  transforms: z.array(transformSchema).max(20).optional(),
  /** `json`: a value of data as it stands, or text that is JSON. */
  type: z.enum(['text', 'html', 'number', 'integer', 'boolean', 'url', 'date', 'json']).default('text'),
  /** The mark before decimals; absent: told by the number itself. */
  decimal: z.enum(['.', ',']).optional(),
  /** IANA zone of dates with a time and no zone of their own. */
  zone: z.string().min(1).max(64).optional(),
  /** All matches as a list instead of the first. */
  list: z.boolean().default(false),
  /** An item without it is left out and counted as incomplete. */
  required: z.boolean().default(false),
  /** What an item without it gets. */
  default: z.union([scalar, z.array(scalar).max(100)]).optional(),
})

export type Field = z.output<typeof plainField> & { fields?: Record<string, Field> | undefined }
type FieldInput = z.input<typeof plainField> & { fields?: Record<string, FieldInput> | undefined }

export const fieldSchema: z.ZodType<Field, FieldInput> = plainField.extend({
  /** The value is an object (with `list`, objects) of these fields, read where the field stands. */
  fields: z.lazy(() => fieldsSchema).optional(),
})

const fieldsSchema = z
  .record(name, fieldSchema)
  .refine((fields) => Object.keys(fields).length > 0, { message: 'has no field' })

export const itemSchema = z.strictObject({
  /** Kind of item: the name it is stored under. */
  name,
  /** Only pages whose canonical URL this RE2 pattern matches; absent: every page. */
  url: regex.optional(),
  /** CSS selector of the nodes, one item each; absent: one item a page. */
  each: selector.optional(),
  /** In its place, items out of data: one for each row, entry or JSON value that a source finds. */
  from: sourceSchema.optional(),
  fields: fieldsSchema,
})

export const dedupeSchema = z.strictObject({
  scope: z.enum(['run', 'days', 'forever']).default('run'),
  days: z.number().int().min(1).max(365).default(7),
  kind: z.enum(['exact', 'bloom']).default('exact'),
  capacity: z.number().int().min(1000).max(1_000_000_000).default(10_000_000),
  errorRate: z.number().min(0.0001).max(0.01).default(0.001),
})

const seconds = (fallback: number) => z.number().int().min(1).max(315_360_000).default(fallback)

export const revisitSchema = z
  .strictObject({
    /**
     * What becomes of pages that a run of this spider has fetched before. `all`: they are fetched like any other. `changed`: they
     * are asked for on condition that they have changed. `due`: likewise, and only those whose interval has passed.
     * `new`: only those that a sitemap says have changed since, and the seeds.
     */
    mode: z.enum(['all', 'changed', 'due', 'new']).default('all'),
    /** Seconds from a page's first visit to its next; from then on the interval follows how often the page changes. */
    first: seconds(86_400),
    /** Bounds of the interval. */
    min: seconds(3_600),
    max: seconds(2_592_000),
    /** After so many answers "not modified" in a row a page is fetched whole, to see whether its server tells the truth. */
    verify: z.number().int().min(0).max(1000).default(10),
    /** Whether a date in a sitemap that is later than our last visit makes a page due at once. */
    lastmod: z.enum(['heed', 'ignore']).default('heed'),
    /** Pages that a sitemap dates before this day are left out. */
    since: z.iso.date().optional(),
  })
  .refine(({ min, max }) => min <= max, { path: ['min'], message: 'must not be above max' })

export const spiderSchema = z.strictObject({
  $schema: z.string().optional(),
  name: z
    .string()
    .regex(
      /^[a-zA-Z0-9][\w-]{0,63}$/,
      'must be 1–64 letters, digits, - or _, beginning with a letter or digit',
    ),
  description: z.string().max(1000).default(''),
  /** Seeds that every run of this spider begins with, beside those given to the run. */
  seeds: z.array(z.string().max(8192)).max(10_000).default([]),
  /**
   * Sitemaps whose pages count as seeds: their URLs, or `auto` for those that the robots.txt of the seeds' hosts names. Feeds
   * and lists of URLs are read as well.
   */
  sitemaps: z.union([z.literal('auto'), z.array(z.string().max(8192)).max(1000)]).default([]),
  /** Which links are followed. */
  follow: z
    .strictObject({
      /** `host`: the seeds' hosts; `site`: their registrable domains; `anywhere`; `none`: seeds only. */
      scope: z.enum(['host', 'site', 'anywhere', 'none']).default('host'),
      /** RE2 patterns on the canonical URL; with any, a link must match one. Seeds are exempt. */
      allow: z.array(regex).max(100).default([]),
      /** RE2 patterns; a link that matches one is left out. */
      deny: z.array(regex).max(100).default([]),
      /** Links away from the seed; null: no limit. */
      depth: z.number().int().min(0).max(10_000).nullable().default(null),
      /** Whether links marked rel=nofollow are left alone, while robots are obeyed. */
      nofollow: z.enum(['obey', 'ignore']).default('obey'),
      /** Whether URLs whose path repeats itself without end are fetched. */
      traps: z.enum(['skip', 'follow']).default('skip'),
    })
    .prefault({}),
  /** When two URLs are the same page. Each is fetched as it is written. */
  identity: z
    .strictObject({
      /** Parameters that make no difference, such as `utm_*` and `PHPSESSID`; a `*` at the end stands for any rest. */
      drop: z
        .array(
          z
            .string()
            .regex(/^[^&=;/?#*]{1,100}\*?$/, 'must be the name of a parameter, or its beginning and *'),
        )
        .max(200)
        .default([]),
      /** The order of parameters makes no difference. */
      sortQuery: z.boolean().default(false),
    })
    .prefault({}),
  /** URLs admitted to one run at most; null: no limit. */
  maxPages: z.number().int().min(1).nullable().default(null),
  /** URLs of one host admitted to one run at most; null: no limit. */
  maxPagesPerHost: z.number().int().min(1).nullable().default(null),
  /** robots.txt (RFC 9309). */
  robots: z.enum(['obey', 'ignore']).default('obey'),
  /** Whether addresses that are not globally routable may be fetched. */
  allowPrivate: z.boolean().default(false),
  /** In place of USER_AGENT, and its first word up to the slash is the name obeyed in robots.txt. */
  userAgent: z.string().min(1).max(500).optional(),
  /** Whether cookies are taken and sent back. */
  cookies: z.boolean().default(true),
  headers: z
    .record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/), z.string().max(4000))
    .default({}),
  /** What of the pages is kept in WARC files; see `worker/warc/keep-page.ts`. */
  keep: z.enum(['none', 'errors', 'changed', 'all']).default('none'),
  /** Sinks that are given the items as well, by their names in SINKS_FILE; see docs/sinks.md. */
  sinks: z
    .array(z.string().regex(/^[a-zA-Z0-9][\w-]{0,63}$/, 'must be the name of a sink'))
    .max(10)
    .optional(),
  dedupe: dedupeSchema.prefault({}),
  /** What is done with a page on a queue whose workers open it in a browser; elsewhere it says nothing. */
  render: renderSchema.optional(),
  revisit: revisitSchema.prefault({}),
  /** Name of a spider in code: pages go through the function `parse` of that file in SPIDERS_DIR too. */
  code: z
    .string()
    .regex(/^[a-zA-Z0-9][\w-]{0,63}$/, 'must be the name of a file in SPIDERS_DIR, without its ending')
    .optional(),
  /** Absent: the default item (title, description, canonical, language, counts of links), or none beside code. */
  items: z.array(itemSchema).max(50).optional(),
})

/** A spider as written (defaults may be missing). */
export type SpiderInput = z.input<typeof spiderSchema>
/** A spider with every default filled in. Its patterns and selectors are compiled by `worker/extract`. */
export type Spider = z.output<typeof spiderSchema>
export type ItemRule = z.output<typeof itemSchema>

/** The spider used when none is named: follows the seed's host and takes the default item of each page. */
export const DEFAULT_SPIDER: Spider = spiderSchema.parse({
  name: 'default',
  description:
    'Title, description, canonical URL, language and link counts of every page on the seed’s host.',
})

/** The URLs that a spider itself begins with: its seeds, and the sitemaps it names. */
export function startUrls({ seeds, sitemaps = [] }: Spider): string[] {
  return sitemaps === 'auto' ? seeds : [...seeds, ...sitemaps]
}
