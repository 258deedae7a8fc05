import {
  bigint,
  boolean,
  double,
  index,
  int,
  mysqlTable,
  text,
  uniqueIndex,
  varchar,
} from 'drizzle-orm/mysql-core'
import { instant, json } from './columns'

/** What an operator changed of a rule; a rule that has no row stands as it is in server/alerts/rules.ts, switched on. */
export const alertRules = mysqlTable('alert_rules', {
  kind: varchar('kind', { length: 32 }).primaryKey(),
  enabled: boolean('enabled').notNull(),
  /** In the unit of the rule's figure. */
  threshold: double('threshold').notNull(),
  /** How far back the figure looks. */
  windowMinutes: int('window_minutes').notNull(),
  /** How long the figure must be beyond the threshold, or back within it, before that is told. */
  holdMinutes: int('hold_minutes').notNull(),
  /** Ids of channels; null: all that are switched on. */
  channels: json<number[] | null>('channels').notNull(),
  /** Until then nothing is sent; what fires is recorded all the same. */
  silentUntil: instant('silent_until'),
  updatedAt: instant('updated_at').notNull(),
})

/**
 * Each time that a rule found something wrong with a subject. `pending`: not yet for long enough to be told, and gone without
 * a trace if it never is.
 */
export const alerts = mysqlTable(
  'alerts',
  {
    id: int('id').autoincrement().primaryKey(),
    rule: varchar('rule', { length: 32 }).notNull(),
    /** What it is about, such as `queue:crawl_queue`, `run:7`, or `all`. */
    subject: varchar('subject', { length: 191 }).notNull(),
    /** `rule subject` while it is open: at most one open alert of each, however many schedulers look. */
    openKey: varchar('open_key', { length: 224 }),
    state: varchar('state', { length: 10, enum: ['pending', 'firing', 'resolved'] }).notNull(),
    /** The figure at the last look, and the threshold that it was compared with. */
    figure: double('figure').notNull(),
    threshold: double('threshold').notNull(),
    windowMinutes: int('window_minutes').notNull(),
    /** What belongs to the figure: counts, hosts, reasons. */
    facts: json<Record<string, string | number>>('facts').notNull(),
    /** When the figure went beyond the threshold. */
    startedAt: instant('started_at').notNull(),
    firedAt: instant('fired_at'),
    /** Since when the figure is back within the threshold, while that is not long enough to end the alert. */
    calmSince: instant('calm_since'),
    endedAt: instant('ended_at'),
    /** Whether the channels were told that it fires: later than it fired, where the rule was silenced. */
    told: boolean('told').notNull().default(false),
  },
  (table) => [
    uniqueIndex('alerts_open').on(table.openKey),
    // The history, newest first, with or without what is pending.
    index('alerts_state').on(table.state, table.id),
  ],
)

/** Where alerts go. What is secret of a channel is encrypted with a key made from AUTH_SECRET; it is never shown again. */
export const alertChannels = mysqlTable('alert_channels', {
  id: int('id').autoincrement().primaryKey(),
  kind: varchar('kind', { length: 16 }).notNull(),
  name: varchar('name', { length: 100 }).notNull(),
  enabled: boolean('enabled').notNull().default(true),
  language: varchar('language', { length: 10, enum: ['en', 'zh-CN'] }).notNull(),
  /** What may be shown, such as a host or the recipients of mails. */
  settings: json<Record<string, unknown>>('settings').notNull(),
  secrets: text('secrets').notNull(),
  createdAt: instant('created_at').notNull(),
  updatedAt: instant('updated_at').notNull(),
})

/** One try to deliver a message. */
export interface DeliveryTry {
  /** ms since 1970. */
  at: number
  ms: number
  /** What the other side answered, or why there was no answer. */
  answer: string
}

/**
 * Messages on their way: written together with the change that they tell of, so that neither is without the other. A delivery
 * is sent at least once and carries its key, by which a receiver tells a repetition.
 */
export const alertDeliveries = mysqlTable(
  'alert_deliveries',
  {
    id: bigint('id', { mode: 'number' }).autoincrement().primaryKey(),
    /** `alert:event:channel`: told once, whoever writes it. */
    deliveryKey: varchar('delivery_key', { length: 64 }).notNull(),
    /** Null for a test of the channel. */
    alertId: int('alert_id'),
    event: varchar('event', { length: 10, enum: ['firing', 'resolved', 'test'] }).notNull(),
    channelId: int('channel_id').notNull(),
    /** `sending`: somebody has it, until `next_at`; then it counts as lost and is sent again. `dead`: too many tries failed. */
    state: varchar('state', { length: 10, enum: ['waiting', 'sending', 'sent', 'dead'] }).notNull(),
    /** What is told, without words: they are put in when it is sent, in the channel's language. */
    message: json<unknown>('message').notNull(),
    attempts: int('attempts').notNull().default(0),
    nextAt: instant('next_at').notNull(),
    /** The last tries, newest first. */
    tries: json<DeliveryTry[]>('tries').notNull(),
    createdAt: instant('created_at').notNull(),
    sentAt: instant('sent_at'),
  },
  (table) => [
    uniqueIndex('alert_deliveries_key').on(table.deliveryKey),
    // The scheduler asks every second for what is due.
    index('alert_deliveries_due').on(table.state, table.nextAt),
    index('alert_deliveries_channel').on(table.channelId, table.id),
  ],
)
