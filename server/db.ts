import type { ResultSetHeader } from 'mysql2'
import type { Pool, PoolConnection } from 'mysql2/promise'

/** A pool, or the connection of a transaction. */
export type Sql = Pool | PoolConnection

/** The rows of a query. `T` is what the caller knows its columns to be. */
export async function select<T>(on: Sql, text: string, values: unknown[] = []): Promise<T[]> {
  const [rows] = await on.query(text, values)
  return rows as T[]
}

/** Runs a statement that changes rows. `affectedRows` counts the rows that matched, changed or not. */
export async function change(on: Sql, text: string, values: unknown[] = []): Promise<ResultSetHeader> {
  const [result] = await on.query(text, values)
  return result as ResultSetHeader
}
