import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  index,
  int,
  mysqlTable,
  primaryKey,
  smallint,
  text,
  varchar,
} from 'drizzle-orm/mysql-core'
import { OUTCOMES } from '../../core/queue/states'
import { blob, bytes, instant, json } from './columns'

/** The outcome of a URL in a run: exactly one row for each that ended. */
export const pages = mysqlTable(
  'pages',
  {
    runId: bigint('run_id', { mode: 'number' }).notNull(),
    /** SHA-256 of the canonical URL: identity is identity of bytes. */
    urlHash: bytes('url_hash', { length: 32 }).notNull(),
    url: text('url').notNull(),
    /** Of `url`, with the port where there is one, as `hostKey` in core/url.ts has it. */
    host: varchar('host', { length: 300 }).generatedAlwaysAs(
      sql`(left(substring_index(substring_index(\`url\`,'/',3),'/',-1),300))`,
      { mode: 'stored' },
    ),
    finalUrl: text('final_url'),
    state: varchar('state', { length: 10, enum: OUTCOMES }).notNull(),
    /** Class of what happened when it is not simply done, for instance `http_404`, `timeout_total`; see worker/outcome.ts. */
    reason: varchar('reason', { length: 40 }),
    detail: varchar('detail', { length: 500 }),
    status: smallint('status'),
    title: text('title'),
    depth: int('depth').notNull(),
    referrer: text('referrer'),
    contentType: varchar('content_type', { length: 255 }),
    charset: varchar('charset', { length: 40 }),
    /** What is worth knowing beside the outcome, such as `noindex`; see worker/read-document.ts. */
    flags: varchar('flags', { length: 100 }),
    bytes: bigint('bytes', { mode: 'number' }),
    ms: int('ms'),
    attempts: int('attempts').notNull(),
    deliveries: int('deliveries').notNull(),
    items: int('items').notNull(),
    /** In-scope links that this worker did not know to be admitted already: deflated, one canonical URL a line. See docs/architecture.md, "Coverage". */
    links: blob('links'),
    /** SHA-1 of the content as it was decoded. */
    digest: bytes('digest', { length: 20 }),
    /** The page was not read this time: the run that has its items. */
    contentRun: bigint('content_run', { mode: 'number' }),
    /** Where the content is kept: WARC file below WARC_DIR, and the bytes of its record there. */
    warcFile: varchar('warc_file', { length: 200 }),
    warcOffset: bigint('warc_offset', { mode: 'number' }),
    warcLength: bigint('warc_length', { mode: 'number' }),
    /** Fencing token of the lease that wrote the row; a lower one never overwrites it. */
    token: varchar('token', { length: 32 }).notNull(),
    fetchedAt: instant('fetched_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.runId, table.urlHash] }),
    // The console lists a run's failures, newest first; rates and sums of items are read from the index alone.
    index('pages_state').on(table.runId, table.state, table.fetchedAt, table.items),
    // The same list of one host, status, depth or class of error; all in one order, so that they share a cursor. See
    // server/services/page-list.ts, which goes by whichever holds the fewest rows.
    index('pages_host').on(table.runId, table.host, table.fetchedAt, table.items),
    index('pages_status').on(table.runId, table.status, table.fetchedAt, table.items),
    index('pages_depth').on(table.runId, table.depth, table.fetchedAt, table.items),
    index('pages_reason').on(table.runId, table.reason, table.fetchedAt, table.items),
  ],
)

/** What was extracted: `n` counts the items of a page from 0. */
export const items = mysqlTable(
  'items',
  {
    runId: bigint('run_id', { mode: 'number' }).notNull(),
    urlHash: bytes('url_hash', { length: 32 }).notNull(),
    n: int('n').notNull(),
    name: varchar('name', { length: 64 }).notNull(),
    data: json<Record<string, unknown>>('data').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.runId, table.urlHash, table.n] })],
)

/** Each page as its spider last found it, for spiders that revisit; written together with the page's row. */
export const visits = mysqlTable(
  'visits',
  {
    spiderId: int('spider_id').notNull(),
    urlHash: bytes('url_hash', { length: 32 }).notNull(),
    /** The run of this visit, and the one that has the items of what was found. */
    runId: bigint('run_id', { mode: 'number' }).notNull(),
    contentRun: bigint('content_run', { mode: 'number' }).notNull(),
    /** It was there once, and was not there this time. */
    gone: boolean('gone').notNull(),
    title: text('title'),
    /** Where it was found after redirects; the validators are this URL's. */
    finalUrl: text('final_url').notNull(),
    etag: varchar('etag', { length: 500 }),
    lastModified: varchar('last_modified', { length: 64 }),
    /** The validators have not been seen to stay the same while the page changed. */
    trusted: boolean('trusted').notNull(),
    /** Answers "not modified" since the page was last seen whole. */
    streak: int('streak').notNull(),
    /** SHA-1 of the content, and of what was taken from it. */
    digest: bytes('digest', { length: 20 }).notNull(),
    extract: bytes('extract', { length: 20 }).notNull(),
    /** SHA-1 of what of the spider decides what is taken. */
    rules: bytes('rules', { length: 20 }).notNull(),
    /** All its links, in scope or not: deflated, one URL a line. */
    links: blob('links'),
    /** Seconds until the next visit, and when that is. A sitemap that calls it changed puts `due_at` back to `visited_at`. */
    intervalSeconds: int('interval_seconds').notNull(),
    dueAt: instant('due_at').notNull(),
    visitedAt: instant('visited_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.spiderId, table.urlHash] })],
)
