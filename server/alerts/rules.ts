import type { Rule } from './rule'
import { backlogAge } from './rules/backlog-age'
import { backlogGrowth } from './rules/backlog-growth'
import { blocked } from './rules/blocked'
import { failedUrls } from './rules/failed-urls'
import { missedFire } from './rules/missed-fire'
import { redisMemory } from './rules/redis-memory'
import { outOfMemory, restarts } from './rules/restarts'
import { silentWorker } from './rules/silent-worker'
import { sinkAge, sinkRefused } from './rules/sinks'
import { successRate } from './rules/success-rate'

/** All rules, in the order of the page. Each is on unless somebody switched it off. */
export const RULES = {
  success_rate: successRate,
  failed_urls: failedUrls,
  blocked,
  backlog_growth: backlogGrowth,
  backlog_age: backlogAge,
  silent_worker: silentWorker,
  restarts,
  out_of_memory: outOfMemory,
  missed_fire: missedFire,
  redis_memory: redisMemory,
  sink_age: sinkAge,
  sink_refused: sinkRefused,
} satisfies Record<string, Rule>

export type RuleKind = keyof typeof RULES
export const RULE_KINDS = Object.keys(RULES) as RuleKind[]
