import type { Services } from '../context'

export interface Health {
  ready: boolean
  redis: boolean
  database: boolean
}

/** Asks Redis and the database for a sign of life, each for two seconds at most. */
export async function health(services: Services): Promise<Health> {
  const [redis, database] = await Promise.all([
    answers(services.redis.ping()),
    answers(services.database.pool.query('SELECT 1')),
  ])
  return { ready: redis && database, redis, database }
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
