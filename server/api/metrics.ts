import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { OUTCOMES } from '../../core/queue/states'
import type { Services } from '../context'
import { select } from '../db'
import { readFailures } from '../services/insights'
import { listQueues } from '../services/queues'
import { readSinkLengths } from '../services/sinks'

/** However many ask, the servers are read this often at most. */
const FRESH_MS = 5_000
/** The failures are pages of the database, of which there may be many. */
const FAILURES_FRESH_MS = 60_000
/** Of a sink that is away for long many pages wait. */
const SINKS_FRESH_MS = 30_000
const STATES = ['inbox', 'pending', 'running', 'retry', 'failed', 'rejected'] as const
const RESTARTS = { restart: 'exit', lost: 'silent', oom: 'out_of_memory' } as const

interface Page {
  text: string
  contentType: string
}

const readers = new WeakMap<Services, () => Promise<Page>>()

/** The state of the crawl in the text format of Prometheus, at most five seconds old. @throws Unavailable and the driver's errors. */
export function readMetrics(services: Services): Promise<Page> {
  const known = readers.get(services) ?? fresh(FRESH_MS, metricsReader(services))
  readers.set(services, known)
  return known()
}

function metricsReader(services: Services): () => Promise<Page> {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'orbweaver_web_' })
  const registers = [registry]
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name: `orbweaver_${name}`, help, labelNames, registers })
  const length = gauge('queue_length', 'URLs of a queue in each state.', 'queue', 'state')
  const hosts = gauge('queue_hosts', 'Hosts that a queue knows.', 'queue')
  const paused = gauge('queue_paused', '1 while a queue is paused.', 'queue')
  const outcomes = new Counter({
    name: 'orbweaver_outcomes_total',
    help: 'Pages that ended, by outcome; its rate is the throughput.',
    labelNames: ['queue', 'outcome'],
    registers,
  })
  const workers = gauge('workers', 'Workers that were heard of within 30 s.', 'queue', 'kind', 'state')
  const inFlight = gauge('worker_pages', 'Pages in flight at the last heartbeats.', 'queue', 'kind')
  const restarts = gauge('worker_restarts_24h', 'Worker restarts of the last 24 h, by cause.', 'cause')
  const failures = gauge(
    'failures_1h',
    'Failed pages of the last hour, by class: the five largest.',
    'reason',
  )
  const sinkWaiting = gauge('sink_pages_waiting', 'Pages whose items a sink is still to be given.', 'sink')
  const sinkOldest = gauge('sink_oldest_seconds', 'How long the first of them has waited.', 'sink')
  const sinkRefused = gauge('sink_pages_refused', 'Pages whose items a sink refuses.', 'sink')
  const memory = gauge('redis_memory_bytes', 'Memory that Redis uses.')
  const memoryLimit = gauge('redis_memory_limit_bytes', 'Memory that Redis may use; 0 is without a limit.')
  const sinkLengths = fresh(SINKS_FRESH_MS, () => readSinkLengths(services))
  const recentFailures = fresh(FAILURES_FRESH_MS, () => readFailures(services))

  return async () => {
    const [queues, fleet, ends, failed, sinks, info] = await Promise.all([
      readQueues(services),
      readFleet(services),
      readRestarts(services),
      recentFailures(),
      sinkLengths(),
      services.redis.info('memory'),
    ])
    registry.getMetricsAsArray().forEach((metric) => {
      // What is no longer there, such as a queue that was dropped, must not be told of for ever.
      if (!metric.name.startsWith('orbweaver_web_')) (metric as unknown as Gauge).reset()
    })
    for (const { queue, lengths } of queues) {
      for (const state of STATES) length.set({ queue, state }, lengths[state])
      for (const outcome of OUTCOMES) outcomes.inc({ queue, outcome }, lengths.totals[outcome])
      hosts.set({ queue }, lengths.hosts)
      paused.set({ queue }, lengths.paused ? 1 : 0)
    }
    for (const { queue, kind, state, n, running } of fleet) {
      workers.set({ queue, kind, state }, n)
      inFlight.inc({ queue, kind }, running)
    }
    for (const [kind, cause] of Object.entries(RESTARTS))
      restarts.set({ cause }, ends.find((one) => one.kind === kind)?.n ?? 0)
    for (const { reason, count } of failed.reasons) failures.set({ reason }, count)
    for (const { sink, waiting, oldestSeconds, refused } of sinks) {
      sinkWaiting.set({ sink }, waiting)
      sinkOldest.set({ sink }, oldestSeconds)
      sinkRefused.set({ sink }, refused)
    }
    memory.set(numberOf(info, 'used_memory'))
    memoryLimit.set(numberOf(info, 'maxmemory'))
    return { text: await registry.metrics(), contentType: registry.contentType }
  }
}

async function readQueues(services: Services) {
  const names = await listQueues(services)
  return Promise.all(
    names.map(async ({ name }) => ({ queue: name, lengths: await services.queue(name).lengths() })),
  )
}

const readFleet = ({ database }: Services) =>
  select<{ queue: string; kind: string; state: string; n: number; running: number }>(
    database.pool,
    `SELECT queue, kind, state, COUNT(*) AS n, CAST(SUM(running) AS SIGNED) AS running FROM workers
       WHERE state IN ('running', 'draining') AND heartbeat_at > UTC_TIMESTAMP(3) - INTERVAL 30 SECOND GROUP BY queue, kind, state`,
  )

const readRestarts = ({ database }: Services) =>
  select<{ kind: string; n: number }>(
    database.pool,
    "SELECT kind, COUNT(*) AS n FROM worker_events WHERE at > UTC_TIMESTAMP(3) - INTERVAL 1 DAY AND kind IN ('restart', 'lost', 'oom') GROUP BY kind",
  )

const numberOf = (info: string, field: string) =>
  Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(info)?.[1] ?? Number.NaN)

/** The same answer to all who ask within `ms` of the last reading, which goes on only once at a time. */
function fresh<T>(ms: number, read: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | undefined
  let until = 0
  return () => {
    if (known && performance.now() < until) return known
    until = performance.now() + ms
    const reading = read()
    known = reading
    reading.catch(() => {
      if (known === reading) known = undefined
    })
    return reading
  }
}
