import { randomBytes } from 'node:crypto'
import { createConnection } from 'mysql2/promise'
import { inject } from 'vitest'
import { migrate } from '../drizzle/migrate'

/** A queue name of the test's own, so that test files may run side by side on one Redis. */
export const freshName = (prefix = 'q') => `${prefix}_${randomBytes(4).toString('hex')}`

/** Address of the Redis that the test run started. */
export const testRedisUrl = () => inject('redisUrl')

/** A new, migrated database; drop it with `drop`. */
export async function freshDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = freshName('t')
  const server = inject('mysqlUrl')
  await statement(server, `CREATE DATABASE ${name}`)
  const url = `${server}/${name}`
  await migrate(url, 'drizzle/migrations')
  return { url, drop: () => statement(server, `DROP DATABASE ${name}`) }
}

async function statement(server: string, sql: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const connection = await createConnection({ uri: server, multipleStatements: false })
      await connection.query(sql)
      await connection.end()
      return
    } catch (error) {
      // The server may still be starting when the first test asks.
      if ((error as { code?: string }).code !== 'ECONNREFUSED' || attempt === 150) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
