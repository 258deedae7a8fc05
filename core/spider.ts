import { z } from 'zod'

/**
 * What a spider file may say (JSON). The same schema validates files of the CLI, the console's editor and the rows in MySQL.
 * Regular expressions are RE2 syntax: linear time, whatever the page. Times are seconds, as operators write them.
 */
const regex = z.string().min(1).max(1000)
const selector = z.string().min(1).max(1000)

export const fieldSchema = z.strictObject({
  /** CSS selector below the item's node; absent: the item's node itself. `:scope` is not needed. */
  css: selector.optional(),
  /** Attribute to read instead of the text; `href` and `src` become absolute URLs. */
  attr: z.string().min(1).max(100).optional(),
  /** RE2 pattern on the text; its first group, or the whole match, is the value. */
  regex: regex.optional(),
  type: z.enum(['text', 'html', 'number', 'integer', 'boolean', 'url', 'date']).default('text'),
  /** All matches as a list instead of the first. */
  list: z.boolean().default(false),
  /** An item without it is left out and counted as incomplete. */
  required: z.boolean().default(false),
})

export const itemSchema = z.strictObject({
  /** Kind of item: the name it is stored under. */
  name: z.string().regex(/^[a-zA-Z][\w-]{0,63}$/),
  /** Only pages whose canonical URL this RE2 pattern matches; absent: every page. */
  url: regex.optional(),
  /** CSS selector of the nodes, one item each; absent: one item a page. */
  each: selector.optional(),
  fields: z
    .record(z.string().regex(/^[a-zA-Z][\w-]{0,63}$/), fieldSchema)
    .refine((fields) => Object.keys(fields).length > 0, { message: 'has no field' }),
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
  dedupe: dedupeSchema.prefault({}),
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
export type Field = z.output<typeof fieldSchema>
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
