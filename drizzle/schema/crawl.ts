import {
  bigint,
  boolean,
  index,
  int,
  mysqlTable,
  primaryKey,
  text,
  uniqueIndex,
  varchar,
} from 'drizzle-orm/mysql-core'
import { CREDENTIAL_KINDS } from '../../core/credentials'
import { PROXY_ROTATIONS } from '../../core/proxy-address'
import type { QuietHours } from '../../core/quiet-hours'
import type { Spider } from '../../core/spider'
import { bytes, instant, json } from './columns'

/** What to crawl and what to take. A run keeps a snapshot of the definition, so editing never changes a run under way. */
export const spiders = mysqlTable('spiders', {
  id: int('id').autoincrement().primaryKey(),
  name: varchar('name', { length: 64 }).notNull().unique(),
  definition: json<Spider>('definition').notNull(),
  /** Rises by one with each edit; `spider_versions` keeps them all. */
  version: int('version').notNull().default(1),
  createdAt: instant('created_at').notNull(),
  updatedAt: instant('updated_at').notNull(),
})

export const spiderVersions = mysqlTable(
  'spider_versions',
  {
    id: int('id').autoincrement().primaryKey(),
    spiderId: int('spider_id').notNull(),
    version: int('version').notNull(),
    definition: json<Spider>('definition').notNull(),
    author: varchar('author', { length: 191 }),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [uniqueIndex('spider_versions_one').on(table.spiderId, table.version)],
)

/**
 * What a spider signs in with at a site: of the spider, not of its definition, so that no version, run or file of it has the
 * secret. Encrypted (`core/seal.ts`), and never shown again.
 */
export const spiderCredentials = mysqlTable(
  'spider_credentials',
  {
    id: int('id').autoincrement().primaryKey(),
    spiderId: int('spider_id').notNull(),
    /** `https://example.com`: the only origin that it is sent to. */
    origin: varchar('origin', { length: 300 }).notNull(),
    kind: varchar('kind', { length: 10, enum: CREDENTIAL_KINDS }).notNull(),
    /** What may be seen of it: the user, or the names of the headers. */
    shown: varchar('shown', { length: 500 }).notNull(),
    sealed: text('sealed').notNull(),
    author: varchar('author', { length: 191 }).notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [uniqueIndex('spider_credentials_one').on(table.spiderId, table.origin)],
)

/**
 * Start URLs: a spider's (`run_id` 0), which its runs begin with, or those one run was given, which then begins with nothing else.
 * Written before Redis hears of them, so a lost Redis loses none.
 */
export const seeds = mysqlTable(
  'seeds',
  {
    id: bigint('id', { mode: 'number' }).autoincrement().primaryKey(),
    spiderId: int('spider_id').notNull(),
    runId: bigint('run_id', { mode: 'number' }).notNull().default(0),
    url: text('url').notNull(),
    urlHash: bytes('url_hash', { length: 32 }).notNull(),
    priority: int('priority').notNull().default(0),
    depth: int('depth').notNull().default(0),
    /** JSON text that came with the URL, passed on unread. */
    meta: text('meta'),
    importId: int('import_id'),
    enabled: boolean('enabled').notNull().default(true),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('seeds_one').on(table.spiderId, table.runId, table.urlHash),
    // Seeding reads a run's own seeds or those of its spider (run 0) by rising id, a chunk at a time.
    index('seeds_run').on(table.runId, table.spiderId, table.id),
    // An import that broke off is taken back by its number.
    index('seeds_import').on(table.importId),
  ],
)

/** Live settings of a queue, the record of what Redis holds a copy of; `version` rises with each change. */
export const queues = mysqlTable('queues', {
  name: varchar('name', { length: 64 }).primaryKey(),
  kind: varchar('kind', { length: 10, enum: ['http', 'render'] })
    .notNull()
    .default('http'),
  delayMs: int('delay_ms').notNull(),
  perHost: int('per_host').notNull(),
  concurrency: int('concurrency').notNull(),
  maxRunning: int('max_running'),
  paused: boolean('paused').notNull().default(false),
  /** The inbox is left alone and new runs wait; what is in the frontier is worked off. Together with `paused` only while held. */
  draining: boolean('draining').notNull().default(false),
  /** The sink that it was paused for, since too much waits for that; null: a person paused it, or it is not paused. */
  heldBy: varchar('held_by', { length: 64 }),
  /** Hosts that answer slowly, or that they are asked too much, are asked less often than the delay says. */
  adaptive: boolean('adaptive').notNull().default(true),
  /** When no page is begun, every day; null: never. */
  quiet: json<QuietHours>('quiet'),
  /** Between fetches at one address, whatever hosts are there; null: no such limit. */
  addressDelayMs: int('address_delay_ms'),
  /** How the next of its proxies is chosen. */
  proxies: varchar('proxies', { length: 10, enum: PROXY_ROTATIONS }).notNull().default('turn'),
  version: int('version').notNull().default(1),
  createdAt: instant('created_at').notNull(),
  updatedAt: instant('updated_at').notNull(),
})

/** Proxies that a queue's fetches go through, all of them, where it has some. Health is in Redis alone. */
export const proxies = mysqlTable(
  'proxies',
  {
    id: int('id').autoincrement().primaryKey(),
    queue: varchar('queue', { length: 64 }).notNull(),
    /** Scheme, host and port; user and password are in `sealed` alone. */
    shown: varchar('shown', { length: 320 }).notNull(),
    sealed: text('sealed').notNull(),
    author: varchar('author', { length: 191 }).notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [uniqueIndex('proxies_one').on(table.queue, table.shown)],
)

/** Delays that an operator gave to single hosts, instead of the queue's; Redis holds a copy. */
export const hostDelays = mysqlTable(
  'host_delays',
  {
    queue: varchar('queue', { length: 64 }).notNull(),
    host: varchar('host', { length: 300 }).notNull(),
    delayMs: int('delay_ms').notNull(),
    author: varchar('author', { length: 191 }).notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.queue, table.host] })],
)

/** `preparing`: its seeds are still being written; nobody but their writer looks at it. */
export const RUN_STATES = [
  'preparing',
  'seeding',
  'running',
  'cancelling',
  'finished',
  'cancelled',
  'failed',
] as const

export const runs = mysqlTable(
  'runs',
  {
    id: bigint('id', { mode: 'number' }).autoincrement().primaryKey(),
    spiderId: int('spider_id').notNull(),
    queue: varchar('queue', { length: 64 }).notNull(),
    /** The spider as it was when the run began. */
    definition: json<Spider>('definition').notNull(),
    state: varchar('state', { length: 12, enum: RUN_STATES }).notNull(),
    trigger: varchar('trigger', { length: 12, enum: ['manual', 'schedule', 'cli', 'inbox'] }).notNull(),
    /** It was given URLs of its own and begins with those alone; else with the seeds of its definition and its spider. */
    ownSeeds: boolean('own_seeds').notNull().default(false),
    scheduleId: int('schedule_id'),
    fireAt: instant('fire_at'),
    /** Set while the run takes entries of an inbox: at most one such run a queue and spider. */
    openKey: varchar('open_key', { length: 140 }),
    /** Last id of `seeds` that was admitted: seeding goes on from here after a crash. */
    seedCursor: bigint('seed_cursor', { mode: 'number' }).notNull().default(0),
    /** Epoch of the dispatcher that the run was last seeded or rebuilt in. */
    epoch: int('epoch').notNull().default(0),
    admitted: bigint('admitted', { mode: 'number' }).notNull().default(0),
    done: bigint('done', { mode: 'number' }).notNull().default(0),
    failed: bigint('failed', { mode: 'number' }).notNull().default(0),
    ignored: bigint('ignored', { mode: 'number' }).notNull().default(0),
    cancelled: bigint('cancelled', { mode: 'number' }).notNull().default(0),
    items: bigint('items', { mode: 'number' }).notNull().default(0),
    error: text('error'),
    startedBy: varchar('started_by', { length: 191 }),
    createdAt: instant('created_at').notNull(),
    finishedAt: instant('finished_at'),
  },
  (table) => [
    // Whatever happens to the scheduler's lock, a fire makes one run.
    uniqueIndex('runs_fire').on(table.scheduleId, table.fireAt),
    uniqueIndex('runs_open').on(table.openKey),
    // The scheduler asks every second for the unfinished ones; the console lists by newest.
    index('runs_state').on(table.state, table.id),
    index('runs_spider').on(table.spiderId, table.id),
  ],
)

export const schedules = mysqlTable('schedules', {
  id: int('id').autoincrement().primaryKey(),
  spiderId: int('spider_id').notNull(),
  queue: varchar('queue', { length: 64 }).notNull(),
  name: varchar('name', { length: 191 }).notNull(),
  cron: varchar('cron', { length: 120 }).notNull(),
  zone: varchar('zone', { length: 64 }).notNull(),
  overlap: varchar('overlap', { length: 10, enum: ['skip', 'queue', 'parallel'] })
    .notNull()
    .default('skip'),
  missed: varchar('missed', { length: 10, enum: ['skip', 'once', 'all'] })
    .notNull()
    .default('once'),
  enabled: boolean('enabled').notNull().default(true),
  /** Fires up to here are decided; the next look begins after it. */
  decidedUntil: instant('decided_until').notNull(),
  createdAt: instant('created_at').notNull(),
  updatedAt: instant('updated_at').notNull(),
})

/** Every time a schedule was due: what became of it and why. */
export const fires = mysqlTable(
  'fires',
  {
    id: bigint('id', { mode: 'number' }).autoincrement().primaryKey(),
    scheduleId: int('schedule_id').notNull(),
    fireAt: instant('fire_at').notNull(),
    kind: varchar('kind', { length: 10, enum: ['fired', 'queued', 'skipped', 'missed'] }).notNull(),
    reason: varchar('reason', { length: 500 }),
    runId: bigint('run_id', { mode: 'number' }),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('fires_one').on(table.scheduleId, table.fireAt),
    // The scheduler asks every second which schedules have a fire that waits.
    index('fires_kind').on(table.kind, table.scheduleId),
  ],
)

/** A file of seeds someone uploaded, and what became of its rows. Its seeds count once it is `finished`, all at once. */
export const imports = mysqlTable(
  'imports',
  {
    id: int('id').autoincrement().primaryKey(),
    spiderId: int('spider_id').notNull(),
    fileName: varchar('file_name', { length: 255 }).notNull(),
    state: varchar('state', { length: 10, enum: ['running', 'finished', 'failed'] }).notNull(),
    /** The spider, as long as seeds of a file that is not finished may be there: one such file a spider at a time. */
    openFor: int('open_for').unique(),
    /** When the process that reads the file last said that it lives. */
    aliveAt: instant('alive_at'),
    rows: bigint('rows', { mode: 'number' }).notNull().default(0),
    accepted: bigint('accepted', { mode: 'number' }).notNull().default(0),
    duplicates: bigint('duplicates', { mode: 'number' }).notNull().default(0),
    rejected: bigint('rejected', { mode: 'number' }).notNull().default(0),
    /** The first thousand rejected lines: number, text, reason. */
    report: json<{ line: number; text: string; reason: string }[]>('report'),
    error: text('error'),
    author: varchar('author', { length: 191 }),
    createdAt: instant('created_at').notNull(),
    finishedAt: instant('finished_at'),
  },
  // The console lists the newest of a spider.
  (table) => [index('imports_spider').on(table.spiderId, table.id)],
)
