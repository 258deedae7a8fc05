import { bigint, boolean, index, int, mysqlTable, primaryKey, text, varchar } from 'drizzle-orm/mysql-core'
import { instant, json } from './columns'

export const workers = mysqlTable(
  'workers',
  {
    /** `hostname-pid-random`: new with each start. */
    id: varchar('id', { length: 100 }).primaryKey(),
    kind: varchar('kind', { length: 10, enum: ['http', 'render'] }).notNull(),
    queue: varchar('queue', { length: 64 }).notNull(),
    hostname: varchar('hostname', { length: 191 }).notNull(),
    pid: int('pid').notNull(),
    state: varchar('state', { length: 10, enum: ['running', 'draining', 'stopped', 'lost'] }).notNull(),
    /** Pages in flight at the last heartbeat. */
    running: int('running').notNull().default(0),
    done: bigint('done', { mode: 'number' }).notNull().default(0),
    failed: bigint('failed', { mode: 'number' }).notNull().default(0),
    rssBytes: bigint('rss_bytes', { mode: 'number' }).notNull().default(0),
    startedAt: instant('started_at').notNull(),
    heartbeatAt: instant('heartbeat_at').notNull(),
    stoppedAt: instant('stopped_at'),
  },
  (table) => [index('workers_state').on(table.state, table.heartbeatAt)],
)

/** Starts, stops and losses of workers; restarts are counted from here. */
export const workerEvents = mysqlTable(
  'worker_events',
  {
    id: bigint('id', { mode: 'number' }).autoincrement().primaryKey(),
    workerId: varchar('worker_id', { length: 100 }).notNull(),
    queue: varchar('queue', { length: 64 }).notNull(),
    kind: varchar('kind', { length: 10, enum: ['start', 'stop', 'lost', 'restart', 'oom'] }).notNull(),
    detail: varchar('detail', { length: 500 }),
    at: instant('at').notNull(),
  },
  (table) => [index('worker_events_at').on(table.at)],
)

/**
 * `superseded`: a newer request of the same queue and kind took its place, so the scaler drops it, also when it was running.
 * The scaler changes a row only from the state it knows, so that it never ends a request that somebody replaced meanwhile.
 */
const SCALE_STATES = ['waiting', 'running', 'done', 'failed', 'superseded'] as const

/** Wanted numbers of workers: who asked, when, from how many to how many and why; the scaler carries them out. */
export const scaleRequests = mysqlTable(
  'scale_requests',
  {
    id: int('id').autoincrement().primaryKey(),
    queue: varchar('queue', { length: 64 }).notNull(),
    kind: varchar('kind', { length: 10, enum: ['http', 'render'] }).notNull(),
    /** Workers alive when it was asked for. */
    previous: int('previous').notNull(),
    wanted: int('wanted').notNull(),
    reason: varchar('reason', { length: 500 }),
    state: varchar('state', { length: 10, enum: SCALE_STATES }).notNull(),
    /** Progress, then result, in the scaler's words. */
    detail: text('detail'),
    author: varchar('author', { length: 191 }),
    createdAt: instant('created_at').notNull(),
    finishedAt: instant('finished_at'),
  },
  (table) => [
    // The scaler asks every second for the open ones; the console lists a queue's by newest.
    index('scale_requests_state').on(table.state, table.id),
    index('scale_requests_queue').on(table.queue, table.id),
  ],
)

/** How far requests for workers of a queue may go, and whether it asks by itself. A queue without a row has the defaults. */
export const scaleLimits = mysqlTable('scale_limits', {
  queue: varchar('queue', { length: 64 }).primaryKey(),
  fewest: int('fewest').notNull(),
  most: int('most').notNull(),
  /** Largest swing within a minute; null for any. */
  perMinute: int('per_minute'),
  auto: boolean('auto').notNull(),
  /** Seconds that work must have waited for a worker before there is one more, and that workers must have been too many. */
  upSeconds: int('up_seconds').notNull(),
  downSeconds: int('down_seconds').notNull(),
  updatedAt: instant('updated_at').notNull(),
})

/** One line a queue and minute: what the charts show. */
export const samples = mysqlTable(
  'samples',
  {
    queue: varchar('queue', { length: 64 }).notNull(),
    /** Begin of the minute. */
    at: instant('at').notNull(),
    inbox: bigint('inbox', { mode: 'number' }).notNull(),
    pending: bigint('pending', { mode: 'number' }).notNull(),
    running: bigint('running', { mode: 'number' }).notNull(),
    retry: bigint('retry', { mode: 'number' }).notNull(),
    dead: bigint('dead', { mode: 'number' }).notNull(),
    /** Outcomes since the queue exists; a minute's own are the difference to the line before. */
    doneTotal: bigint('done_total', { mode: 'number' }).notNull(),
    failedTotal: bigint('failed_total', { mode: 'number' }).notNull(),
    ignoredTotal: bigint('ignored_total', { mode: 'number' }).notNull(),
    workers: int('workers').notNull(),
    /** Workers that started again or were lost within the minute. */
    restarts: int('restarts').notNull(),
  },
  (table) => [primaryKey({ columns: [table.queue, table.at] })],
)

/** Who changed what. */
export const auditLog = mysqlTable(
  'audit_log',
  {
    id: bigint('id', { mode: 'number' }).autoincrement().primaryKey(),
    at: instant('at').notNull(),
    actor: varchar('actor', { length: 191 }).notNull(),
    action: varchar('action', { length: 64 }).notNull(),
    subject: varchar('subject', { length: 191 }).notNull(),
    detail: json<unknown>('detail'),
  },
  (table) => [
    index('audit_log_at').on(table.at),
    // The console lists changes by newest, of all or of one actor, action or subject; each such list is one stretch of an index.
    index('audit_log_actor').on(table.actor, table.at),
    index('audit_log_action').on(table.action, table.at),
    index('audit_log_subject').on(table.subject, table.at),
  ],
)

/** One row (id 1): which life of Redis the tokens belong to. */
export const dispatcher = mysqlTable('dispatcher', {
  id: int('id').primaryKey(),
  /** Rises whenever Redis may have gone back in time. */
  epoch: int('epoch').notNull(),
  redisRunId: varchar('redis_run_id', { length: 64 }).notNull(),
  redisReplId: varchar('redis_repl_id', { length: 64 }).notNull(),
  changedAt: instant('changed_at').notNull(),
})

/** Who does what only one process may do, such as leading the schedulers. */
export const leases = mysqlTable('leases', {
  name: varchar('name', { length: 64 }).primaryKey(),
  holder: varchar('holder', { length: 100 }).notNull(),
  /** Fencing number: rises with each new holder; a decision made under an older one is refused. */
  fence: bigint('fence', { mode: 'number' }).notNull(),
  expiresAt: instant('expires_at').notNull(),
})
