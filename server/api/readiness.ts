import type { Services } from '../context'

export interface Health {
  ready: boolean
  redis: boolean
  database: boolean
  /** Whether the database is migrated. */
  tables: boolean
}

export const NOTHING_READY: Health = { ready: false, redis: false, database: false, tables: false }

/** Asks Redis and the database for a sign of life, each for two seconds at most. */
export async function health(services: Services): Promise<Health> {
  const { redis, database } = services
  const found = await Promise.all([
    answers(redis.ping()),
    answers(database.pool.query('SELECT 1')),
    answers(database.pool.query('SELECT id FROM runs LIMIT 0')),
  ])
  const [redisAnswers, databaseAnswers, tables] = found
  return { ready: found.every(Boolean), redis: redisAnswers, database: databaseAnswers, tables }
}

async function answers(asked: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), 2_000)
  })
  const answer = await Promise.race([
    asked.then(
      () => true,
      () => false,
    ),
    late,
  ])
  clearTimeout(timer)
  return answer
}
