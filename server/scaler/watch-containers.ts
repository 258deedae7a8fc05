import { sentence } from '../../core/errors'
import { inTransaction } from '../../drizzle/database'
import type { Services } from '../context'
import { change, select } from '../db'
import { projectOf, WORKERS_LABEL } from './docker-driver'
import type { Container, Engine, EngineEvent } from './docker-engine'

const AGAIN_MS = 2_000
/** A container that got SIGTERM so lately was told to stop, however it ended. */
const TOLD_MS = 120_000
const LONGEST_DETAIL = 500

interface Signs {
  /** When the engine told that memory ran out, and when which signal was sent, in ms since 1970. */
  oom?: number
  killed?: { signal: string; at: number }
}

/**
 * Follows what the engine tells of the project's worker containers, and records each that ended without being told to: why (memory
 * apart), with its last lines. After a silence of the engine it goes on from the last event it knows.
 */
export function watchContainers(s: Services, engine: Engine, self: string): { stop(): Promise<void> } {
  const stopped = new AbortController()
  const signs = new Map<string, Signs>()
  let since = Date.now() / 1000

  const follow = async () => {
    const filters = {
      type: ['container'],
      event: ['oom', 'kill', 'die', 'destroy'],
      label: [`com.docker.compose.project=${await projectOf(engine, self)}`, WORKERS_LABEL],
    }
    for await (const event of engine.events(since, filters, stopped.signal)) {
      await take(s, engine, signs, event)
      since = event.timeNano / 1e9 + 1e-6
    }
  }
  const done = (async () => {
    let told = ''
    while (!stopped.signal.aborted) {
      await follow().catch((error) => {
        if (stopped.signal.aborted || told === sentence(error)) return
        told = sentence(error)
        s.log.warn({ cause: told }, 'Ends of workers are not seen until the Docker engine answers')
      })
      if (!stopped.signal.aborted) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  })()
  return {
    async stop() {
      stopped.abort()
      await done
    },
  }
}

async function take(
  s: Services,
  engine: Engine,
  signs: Map<string, Signs>,
  { Action, Actor: { ID, Attributes }, timeNano }: EngineEvent,
): Promise<void> {
  const at = timeNano / 1e6
  const known = signs.get(ID) ?? {}
  if (Action === 'oom') signs.set(ID, { ...known, oom: at })
  else if (Action === 'kill')
    signs.set(ID, { ...known, killed: known.killed ?? { signal: Attributes.signal!, at } })
  else signs.delete(ID)
  if (Action !== 'die') return
  const { oom, killed } = known
  const code = Attributes.exitCode!
  const toldToStop = killed?.signal === '15' && at - killed.at < TOLD_MS
  if (code === '0' || toldToStop) return
  // Of a kill by the kernel the engine does not always tell; 137 without a signal of anybody else is one.
  const outOfMemory = oom !== undefined || (code === '137' && killed === undefined)
  const container = await engine.call<Container>('GET', `/containers/${ID}/json`).catch(() => undefined)
  const limit = container?.HostConfig.Memory
  const why = outOfMemory
    ? `out of memory${limit ? ` (limit ${Math.round(limit / 1048576)} MiB)` : ''}`
    : killed
      ? `killed by signal ${killed.signal}`
      : `exit code ${code}`
  const last = await engine.lastLines(ID, 5).catch(() => '')
  const queue = container?.Config.Env?.find((line) => line.startsWith('QUEUE_KEY='))?.slice(
    'QUEUE_KEY='.length,
  )
  await recordEnd(s, {
    container: Attributes.name!,
    hostname: ID.slice(0, 12),
    at,
    queue: queue ?? '',
    kind: outOfMemory ? 'oom' : 'restart',
    detail: `${why}${last && `; last lines: ${last}`}`.slice(0, LONGEST_DETAIL),
  })
}

interface End {
  container: string
  hostname: string
  /** Milliseconds since 1970. What started later in the same container is another. */
  at: number
  queue: string
  kind: 'oom' | 'restart'
  detail: string
}

/** One end is one event: the worker counts as lost at once, so that its silence is not counted as well. */
async function recordEnd(s: Services, end: End): Promise<void> {
  await inTransaction(s.database.pool, async (connection) => {
    const [worker] = await select<{ id: string }>(
      connection,
      "SELECT id FROM workers WHERE hostname = ? AND state IN ('running', 'draining') AND started_at < FROM_UNIXTIME(?) ORDER BY started_at LIMIT 1 FOR UPDATE",
      [end.hostname, end.at / 1000],
    )
    if (worker)
      await change(connection, "UPDATE workers SET state = 'lost', running = 0 WHERE id = ?", [worker.id])
    await change(
      connection,
      'INSERT INTO worker_events (worker_id, queue, kind, detail, at) VALUES (?, ?, ?, ?, UTC_TIMESTAMP(3))',
      [worker?.id ?? end.container, end.queue, end.kind, end.detail],
    )
  })
  s.log.warn({ container: end.container, kind: end.kind, detail: end.detail }, 'A worker ended unasked')
}
