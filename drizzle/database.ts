import { drizzle, type MySql2Database } from 'drizzle-orm/mysql2'
import { createPool, type Pool, type PoolConnection } from 'mysql2/promise'
import { sentence, Unavailable, UserError } from '../core/errors'
import { redactUrl } from '../core/log'

export interface Database {
  orm: MySql2Database
  pool: Pool
  close(): Promise<void>
}

/** Longest wait for a connection of the pool; the driver itself would wait for ever. */
const ACQUIRE_MS = 10_000

/**
 * A pool on MySQL 8+ or MariaDB 10.11+. Every session is UTC, strict, READ COMMITTED (workers' upserts would otherwise
 * lock gaps and deadlock) and utf8mb4 compared byte by byte.
 */
export function openDatabase(url: string, connections = 8): Database {
  const pool = createPool({
    uri: url,
    connectionLimit: connections,
    maxIdle: Math.max(1, connections - 1),
    idleTimeout: 60_000,
    connectTimeout: 5_000,
    enableKeepAlive: true,
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    supportBigNumbers: true,
    multipleStatements: false,
  })
  pool.pool.on('connection', (connection) => {
    connection.query(
      "SET time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO'",
      () => {},
    )
    connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED', () => {})
  })
  return { pool, orm: drizzle(pool), close: () => pool.end() }
}

/** Answers once the database does. @throws Unavailable naming the server (without password) and the remedy. */
export async function ping(database: Database, url: string): Promise<void> {
  try {
    await database.pool.query('SELECT 1')
  } catch (error) {
    const why = sentence(error)
    const remedy = /Access denied/.test(why)
      ? 'check user and password in DATABASE_URL'
      : /Unknown database/.test(why)
        ? 'create the database first'
        : 'check that it runs and that DATABASE_URL names it'
    throw new Unavailable(`The database at ${redactUrl(url)} does not answer (${why}); ${remedy}.`, {
      cause: error,
    })
  }
}

/** Name of the lock that a migration holds, as SQL. */
export const MIGRATION_LOCK = "CONCAT('orbweaver.', DATABASE())"
/** Longest wait for a migration, in seconds. */
const MIGRATION_SECONDS = 5

/**
 * For processes that leave migrating to others. Waits a little for a migration under way, of which some tables exist already.
 * @throws Unavailable when there are no tables yet, or not all of them.
 */
export async function requireTables(database: Database, url: string): Promise<void> {
  await migrationEnded(database, url)
  try {
    await database.pool.query('SELECT id FROM runs LIMIT 0')
  } catch (error) {
    if ((error as { code?: string }).code !== 'ER_NO_SUCH_TABLE') throw error
    throw new Unavailable(
      `The database at ${redactUrl(url)} has no tables yet; \`npm start\` and every command of the CLI make them, then start this again.`,
      { cause: error },
    )
  }
}

/** Answers of a server that is too busy, stopping, full, or not the one that writes: the same will do later. */
const LATER = new Set([
  'ER_LOCK_DEADLOCK',
  'ER_LOCK_WAIT_TIMEOUT',
  'ER_CON_COUNT_ERROR',
  'ER_TOO_MANY_USER_CONNECTIONS',
  'ER_SERVER_SHUTDOWN',
  'ER_NORMAL_SHUTDOWN',
  'ER_CONNECTION_KILLED',
  'ER_QUERY_INTERRUPTED',
  'ER_OPTION_PREVENTS_STATEMENT',
  'ER_DISK_FULL',
  'ER_RECORD_FILE_FULL',
])

/**
 * Runs `work` in a transaction, and the whole of it again when the database gave up for a passing reason (deadlock, lock
 * wait, lost connection). `work` must therefore be safe to repeat: after a lost reply to COMMIT the outcome is unknown.
 */
export async function inTransaction<T>(
  pool: Pool,
  work: (connection: PoolConnection) => Promise<T>,
  tries = 5,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const connection = await acquire(pool)
    let usable = true
    try {
      await connection.beginTransaction()
      const result = await work(connection)
      await connection.commit()
      return result
    } catch (error) {
      // MySQL rolls back only the statement after a lock wait time-out, so this must be explicit.
      usable = await connection.rollback().then(
        () => true,
        () => false,
      )
      if (attempt >= tries || !isPassing(error)) throw error
    } finally {
      if (usable) connection.release()
      else connection.destroy()
    }
    await new Promise((resolve) => setTimeout(resolve, (20 + Math.random() * 80) * 2 ** (attempt - 1)))
  }
}

interface Fault {
  code?: string
  /** Of every answer of a server, and of nothing else. */
  sqlState?: string
  /** The driver's word that the connection is gone. */
  fatal?: boolean
  syscall?: string
  cause?: unknown
}

/** Whether trying the same again can succeed. */
export function isPassing(error: unknown): boolean {
  return isAway(error) || reasons(error).some(({ code }) => LATER.has(code ?? ''))
}

/**
 * Whether the server does not answer, to this or to anything else. Told by what the fault is, not by a list of codes: a name
 * that does not resolve while a container restarts is as passing as a refused connection, and whatever were missing from
 * such a list would be taken for a refusal of what was to be stored.
 */
export function isAway(error: unknown): boolean {
  return reasons(error).some(
    (fault) =>
      fault instanceof Unavailable ||
      (fault.sqlState === undefined && (fault.fatal === true || fault.syscall !== undefined)),
  )
}

/**
 * The error and what it was caused by: drizzle puts the driver's own into its own. What was classed already as a person's to
 * mend stays so, whatever caused it: a socket that refuses us gives a system error, and waiting would not help.
 */
function reasons(error: unknown): Fault[] {
  const found: Fault[] = []
  let fault = error as Fault | undefined
  while (fault && found.length < 5 && !(fault instanceof UserError)) {
    found.push(fault)
    fault = fault.cause as Fault | undefined
  }
  return found
}

/** @throws Unavailable when no connection is free in time. */
async function acquire(pool: Pool): Promise<PoolConnection> {
  const wanted = pool.getConnection()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        reject(
          new Unavailable(
            `No database connection was free within ${ACQUIRE_MS / 1000} s; the database is overloaded or hangs.`,
          ),
        ),
      ACQUIRE_MS,
    )
  })
  try {
    return await Promise.race([wanted, late])
  } catch (error) {
    // A connection that arrives after all goes back to the pool.
    wanted.then((connection) => connection.release()).catch(() => {})
    throw error
  } finally {
    clearTimeout(timer)
  }
}

async function migrationEnded(database: Database, url: string): Promise<void> {
  const connection = await acquire(database.pool)
  try {
    const [rows] = await connection.query(`SELECT GET_LOCK(${MIGRATION_LOCK}, ?) AS got`, [MIGRATION_SECONDS])
    if ((rows as { got: number }[])[0]?.got !== 1)
      throw new Unavailable(
        `The database at ${redactUrl(url)} is being migrated; start this again after that.`,
      )
    await connection.query(`SELECT RELEASE_LOCK(${MIGRATION_LOCK})`)
  } finally {
    connection.release()
  }
}
