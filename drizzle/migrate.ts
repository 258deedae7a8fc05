import { drizzle } from 'drizzle-orm/mysql2'
import { migrate as apply } from 'drizzle-orm/mysql2/migrator'
import { createConnection } from 'mysql2/promise'
import { MIGRATION_LOCK } from './database'

/**
 * Brings the database at `url` to the newest schema, forward only. Several processes may call it at once: a lock of the
 * database lets one go first, and the rest find nothing to do.
 */
export async function migrate(url: string, folder: string): Promise<void> {
  const connection = await createConnection({
    uri: url,
    timezone: 'Z',
    charset: 'utf8mb4_bin',
    connectTimeout: 5_000,
  })
  try {
    const [rows] = await connection.query(`SELECT GET_LOCK(${MIGRATION_LOCK}, 120) AS got`)
    if ((rows as { got: number }[])[0]?.got !== 1)
      throw new Error(
        'Another process has been migrating the database for two minutes; wait for it or end it.',
      )
    // New tables inherit this: text is compared byte by byte, so that case and accents stay distinct.
    await connection.query('ALTER DATABASE CHARACTER SET utf8mb4 COLLATE utf8mb4_bin')
    await apply(drizzle(connection), { migrationsFolder: folder })
  } finally {
    await connection.end()
  }
}
