import { boolean, index, int, mysqlTable, text, varchar } from 'drizzle-orm/mysql-core'
import { bytes, instant } from './columns'

/** Users and sessions, in the shape that better-auth reads and writes. Emails are stored in lower case. */
export const user = mysqlTable('user', {
  id: varchar('id', { length: 36 }).primaryKey(),
  name: varchar('name', { length: 255 }).notNull(),
  email: varchar('email', { length: 255 }).notNull().unique(),
  emailVerified: boolean('email_verified').notNull().default(false),
  image: text('image'),
  role: varchar('role', { length: 10, enum: ['admin', 'operator', 'viewer'] })
    .notNull()
    .default('viewer'),
  /** Null: they may sign in. */
  disabledAt: instant('disabled_at'),
  twoFactorEnabled: boolean('two_factor_enabled').notNull().default(false),
  /** An administrator asks for a second factor: without one they can do nothing but set it up. */
  secondFactorRequired: boolean('second_factor_required').notNull().default(false),
  createdAt: instant('created_at').notNull(),
  updatedAt: instant('updated_at').notNull(),
})

export const session = mysqlTable(
  'session',
  {
    id: varchar('id', { length: 36 }).primaryKey(),
    expiresAt: instant('expires_at').notNull(),
    token: varchar('token', { length: 255 }).notNull().unique(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    ipAddress: text('ip_address'),
    userAgent: text('user_agent'),
    userId: varchar('user_id', { length: 36 }).notNull(),
  },
  (table) => [index('session_user').on(table.userId)],
)

export const account = mysqlTable(
  'account',
  {
    id: varchar('id', { length: 36 }).primaryKey(),
    accountId: text('account_id').notNull(),
    providerId: text('provider_id').notNull(),
    userId: varchar('user_id', { length: 36 }).notNull(),
    accessToken: text('access_token'),
    refreshToken: text('refresh_token'),
    idToken: text('id_token'),
    accessTokenExpiresAt: instant('access_token_expires_at'),
    refreshTokenExpiresAt: instant('refresh_token_expires_at'),
    scope: text('scope'),
    password: text('password'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [index('account_user').on(table.userId)],
)

export const verification = mysqlTable(
  'verification',
  {
    id: varchar('id', { length: 36 }).primaryKey(),
    identifier: varchar('identifier', { length: 255 }).notNull(),
    value: text('value').notNull(),
    expiresAt: instant('expires_at').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [index('verification_identifier').on(table.identifier)],
)

/** The second factor of those who have one, or are setting it up (`verified` is false). What is secret of it is encrypted. */
export const twoFactor = mysqlTable('two_factor', {
  id: varchar('id', { length: 36 }).primaryKey(),
  secret: text('secret').notNull(),
  backupCodes: text('backup_codes').notNull(),
  userId: varchar('user_id', { length: 36 }).notNull().unique(),
  verified: boolean('verified').notNull().default(true),
  failedVerificationCount: int('failed_verification_count').notNull().default(0),
  lockedUntil: instant('locked_until'),
})

/** Keys of programs. Of a key only a hash is kept, so a copy of the database opens nothing. */
export const apiKey = mysqlTable(
  'api_key',
  {
    /** The part of the key that may be seen; a request is looked up by it. */
    id: varchar('id', { length: 12 }).primaryKey(),
    /** SHA-256 of the other part, which is random and long enough to need no slow hash. */
    secretHash: bytes('secret_hash', { length: 32 }).notNull(),
    name: varchar('name', { length: 100 }).notNull(),
    role: varchar('role', { length: 10, enum: ['admin', 'operator', 'viewer'] }).notNull(),
    author: varchar('author', { length: 191 }).notNull(),
    createdAt: instant('created_at').notNull(),
    /** Null: it does not expire. */
    expiresAt: instant('expires_at'),
    revokedAt: instant('revoked_at'),
    /** Exact to a minute. */
    lastUsedAt: instant('last_used_at'),
  },
  (table) => [index('api_key_created').on(table.createdAt)],
)
