import type { Rule } from '../rule'

/** How full Redis is: of its own limit, or of its machine's memory where it has none. A full Redis admits nothing. */
export const redisMemory: Rule = {
  unit: 'ratio',
  wrong: 'reached',
  windowed: false,
  defaults: { threshold: 0.8, windowMinutes: 60, holdMinutes: 2 },
  async look({ redis }) {
    const text = await redis.info('memory')
    const value = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(text)?.[1] ?? 0)
    const used = value('used_memory')
    const limit = value('maxmemory') || value('total_system_memory')
    // A managed server may say neither.
    if (limit === 0) return []
    const megabytes = (bytes: number) => Math.round(bytes / 1e6)
    return [
      { subject: 'redis', figure: used / limit, facts: { used: megabytes(used), limit: megabytes(limit) } },
    ]
  },
}
