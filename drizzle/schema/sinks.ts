import { bigint, index, int, mysqlTable, uniqueIndex, varchar } from 'drizzle-orm/mysql-core'
import { bytes, instant } from './columns'

/**
 * Pages whose items a sink is still to be given. A row is written in the transaction that stores the items, and goes when the
 * sink has them: what is stored reaches its sinks, whoever ends in between.
 */
export const sinkOutbox = mysqlTable(
  'sink_outbox',
  {
    id: bigint('id', { mode: 'number' }).autoincrement().primaryKey(),
    sink: varchar('sink', { length: 64 }).notNull(),
    runId: bigint('run_id', { mode: 'number' }).notNull(),
    urlHash: bytes('url_hash', { length: 32 }).notNull(),
    /** `dead`: the sink refuses the page, or has failed at it too often. */
    state: varchar('state', { length: 10, enum: ['waiting', 'dead'] })
      .notNull()
      .default('waiting'),
    /** Why it was not taken. */
    detail: varchar('detail', { length: 500 }),
    /** Times that the sink failed at batches that began with this page. */
    tries: int('tries').notNull().default(0),
    /** Counts up when the items were stored anew, so that what was given meanwhile does not count for them. */
    version: int('version').notNull().default(0),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('sink_outbox_page').on(table.sink, table.runId, table.urlHash),
    index('sink_outbox_next').on(table.sink, table.state, table.id),
  ],
)
