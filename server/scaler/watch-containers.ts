import type { Services } from '../context'
import { recordWorkerEnd } from '../services/worker-end'
import { WORKERS_LABEL } from './docker-driver'
import type { Container, Engine, EngineEvent } from './docker-engine'
import { followEnds, lastLines } from './follow-ends'

/** A container that got SIGTERM so lately was told to stop, however it ended: longer than any grace time. */
const TOLD_MS = 120_000
/** What was seen so shortly before an end is its cause. */
const CAUSE_MS = 10_000

/** When what was seen of a container, in ms since 1970. */
interface Signs {
  /** Memory ran out in it. */
  oom: number
  /** SIGTERM. */
  told: number
  /** Any other signal. */
  killed: number
  signal: string
}

/**
 * Follows what the engine tells of worker containers that have the label `belonging`, and records each that ended without being told to: why (memory
 * apart), with its last lines. After a silence of the engine it goes on from the last event it knows.
 */
export function watchContainers(
  s: Services,
  engine: Engine,
  belonging: () => Promise<string>,
): { stop(): Promise<void> } {
  const signs = new Map<string, Signs>()
  let since = Date.now() / 1000

  const follow = async (stopped: AbortSignal) => {
    const filters = {
      type: ['container'],
      event: ['oom', 'kill', 'die'],
      label: [await belonging(), WORKERS_LABEL],
    }
    for await (const event of engine.events(since, filters, stopped)) {
      await take(s, engine, signs, event)
      since = event.timeNano / 1e9 + 1e-6
    }
  }
  return followEnds(s, 'the Docker engine', follow)
}

async function take(
  s: Services,
  engine: Engine,
  signs: Map<string, Signs>,
  event: EngineEvent,
): Promise<void> {
  const { Action, Actor, timeNano } = event
  const { ID, Attributes } = Actor
  const at = timeNano / 1e6
  const seen = signs.get(ID) ?? { oom: 0, told: 0, killed: 0, signal: '' }
  signs.set(ID, seen)
  if (Action === 'oom') seen.oom = at
  else if (Action === 'kill' && Attributes.signal === '15') seen.told = at
  else if (Action === 'kill') Object.assign(seen, { killed: at, signal: Attributes.signal })
  if (Action !== 'die') return
  const code = Attributes.exitCode!
  if (code !== '0' && at - seen.told >= TOLD_MS) await recordEnd(s, engine, event, seen)
  // Not before the record is made: if that fails, this event comes again, and needs them again.
  signs.delete(ID)
}

async function recordEnd(
  s: Services,
  engine: Engine,
  { Actor: { ID, Attributes }, timeNano }: EngineEvent,
  seen: Signs,
): Promise<void> {
  const at = timeNano / 1e6
  const code = Attributes.exitCode!
  const killed = at - seen.killed < CAUSE_MS
  // Of a kill by the kernel the engine does not always tell; 137 without a signal of anybody else is one.
  const outOfMemory = at - seen.oom < CAUSE_MS || (code === '137' && !killed)
  const container = await engine.look<Container>(`/containers/${ID}/json`).catch(() => undefined)
  const limit = container?.HostConfig.Memory
  const why = outOfMemory
    ? `out of memory${limit ? ` (limit ${Math.round(limit / 1048576)} MiB)` : ''}`
    : killed
      ? `killed by signal ${seen.signal}`
      : `exit code ${code}`
  const all = await engine.lastLines(ID, 5).catch(() => '')
  const queue = container?.Config.Env?.find((line) => line.startsWith('QUEUE_KEY='))?.slice(
    'QUEUE_KEY='.length,
  )
  await recordWorkerEnd(s, {
    name: Attributes.name!,
    hostname: ID.slice(0, 12),
    at,
    queue: queue ?? '',
    kind: outOfMemory ? 'oom' : 'restart',
    detail: `${why}${lastLines(all)}`,
  })
}
