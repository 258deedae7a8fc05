import { hostKey } from '../../core/url'

export interface Failure {
  url: string
  reason: string | null
  detail: string | null
  runId: number
}

export interface FailureSummary {
  /** Failures that were looked at. */
  total: number
  /** Most frequent first. */
  reasons: { reason: string; detail: string | null; count: number }[]
  hosts: { host: string; count: number; reason: string }[]
  /** The run with most of them, for the way to the list. */
  run: number | null
}

const SHOWN = 5

/** What failures have in common: their classes, and the hosts with the class that prevails there. */
export function summarise(failures: Failure[]): FailureSummary {
  const reasons = ranked(failures, (one) => one.reason ?? 'failed')
  const hosts = ranked(failures, (one) => hostKey(one.url))
  const [run] = ranked(failures, (one) => String(one.runId))
  return {
    total: failures.length,
    reasons: reasons.map(({ key, of }) => ({ reason: key, detail: of[0]!.detail, count: of.length })),
    hosts: hosts.map(({ key, of }) => ({
      host: key,
      count: of.length,
      reason: ranked(of, (one) => one.reason ?? 'failed')[0]!.key,
    })),
    run: run ? Number(run.key) : null,
  }
}

/** The most frequent values of `key`, each with what has it. */
function ranked(failures: Failure[], key: (one: Failure) => string): { key: string; of: Failure[] }[] {
  const groups = new Map<string, Failure[]>()
  for (const one of failures) {
    const value = key(one)
    const group = groups.get(value)
    if (group) group.push(one)
    else groups.set(value, [one])
  }
  return [...groups]
    .map(([value, of]) => ({ key: value, of }))
    .sort((a, b) => b.of.length - a.of.length || (a.key < b.key ? -1 : 1))
    .slice(0, SHOWN)
}
