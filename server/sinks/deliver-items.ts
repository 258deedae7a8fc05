import { sentence, UserError } from '../../core/errors'
import type { Services } from '../context'
import { change, select } from '../db'
import { nextBatch, pageId, recordsOf, type WaitingPage } from './next-batch'
import { openSink } from './open-sink'
import { readSinks, type SinkSettings, secretsOf } from './read-sinks'
import { type Refused, type Sink, SinkBusy, SinkFailure, SinkRefusal } from './sink'

/** Longest that one sink is served in a turn, in milliseconds. */
const TURN_MS = 2_000
/** A sink that is away is asked again after half a second, and each time after twice as long up to this, in milliseconds. */
const LONGEST_WAIT_MS = 300_000
/** Times that a sink may fail at batches that begin with a page, and at last at the page alone, before it is a dead letter. */
export const MOST_TRIES = 10
/** How often a lasting fault is told of, in milliseconds. */
const TELL_MS = 60_000

interface Line {
  settings: string
  /** What must not be told of, for a sink may answer with what it was sent. */
  secrets: string[]
  sink: Sink
  /** Pages of the next batch: fewer after it was refused, until the one that is at fault is alone. */
  pages: number
  failures: number
  notBefore: number
}

/**
 * Gives sinks the items that wait for them, in the order in which they were stored. At least once: who ends between giving and
 * writing that down leaves pages that are given again, with the same ids. A sink that is away is asked less and less often,
 * and nothing is lost; what it refuses for what it is, or fails at again and again, becomes a dead letter and holds up nothing.
 */
export function itemDelivery(): (s: Services, still: () => boolean) => Promise<void> {
  const lines = new Map<string, Line>()
  const told = new Map<string, number>()
  const tell = (s: Services, about: string, facts: object, words: string) => {
    if (performance.now() - (told.get(about) ?? Number.NEGATIVE_INFINITY) < TELL_MS) return
    told.set(about, performance.now())
    s.log.warn(facts, words)
  }
  return async (s, still) => {
    let configured: Map<string, SinkSettings>
    try {
      configured = await readSinks()
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      tell(s, '', { cause: error.message }, 'items wait until their sinks can be read')
      return
    }
    await Promise.all(
      (await waitingSinks(s)).map(async (name) => {
        const settings = configured.get(name)
        if (settings === undefined) {
          tell(s, name, { sink: name }, 'items wait for a sink that SINKS_FILE does not name')
          return
        }
        try {
          await serve(s, name, lineOf(lines, name, settings), still)
        } catch (error) {
          if (!(error instanceof SinkAway)) throw error
          tell(s, name, { sink: name, cause: error.message }, 'items wait for a sink that does not take them')
        }
      }),
    )
  }
}

/** The sink did not take a batch, and is left alone for a while. */
class SinkAway extends Error {}

async function waitingSinks(s: Services): Promise<string[]> {
  const rows = await select<{ sink: string }>(
    s.database.pool,
    "SELECT sink FROM sink_outbox WHERE state = 'waiting' GROUP BY sink",
  )
  return rows.map(({ sink }) => sink)
}

/** Opened anew when its settings changed. */
function lineOf(lines: Map<string, Line>, name: string, settings: SinkSettings): Line {
  const text = JSON.stringify(settings)
  const known = lines.get(name)
  if (known?.settings === text) return known
  const sink = openSink(name, settings)
  const line = {
    settings: text,
    secrets: secretsOf(settings),
    sink,
    pages: sink.batch.pages,
    failures: 0,
    notBefore: 0,
  }
  lines.set(name, line)
  return line
}

async function serve(s: Services, name: string, line: Line, still: () => boolean): Promise<void> {
  const began = performance.now()
  while (still() && performance.now() >= line.notBefore && performance.now() - began < TURN_MS) {
    const batch = await nextBatch(s, name, { ...line.sink.batch, pages: line.pages })
    if (batch.length === 0) return
    const records = await recordsOf(s, batch)
    let refused: Refused[] = []
    try {
      if (records.length > 0) refused = await whileStill(still, line.sink.write(records))
    } catch (error) {
      if (!still()) return
      const why = withoutSecrets(sentence(error), line.secrets)
      const alone = batch.length === 1
      if (error instanceof SinkRefusal && !alone) {
        line.pages = Math.ceil(batch.length / 2)
        continue
      }
      if (!(error instanceof SinkRefusal)) {
        rest(line, error)
        if (error instanceof SinkFailure) line.pages = Math.ceil(batch.length / 2)
        const tries = await noteFault(s, batch[0]!, why, error instanceof SinkFailure)
        if (!alone || tries < MOST_TRIES) throw new SinkAway(why)
      }
      await settle(s, name, batch, [{ id: records[0]!.id, why }])
      continue
    }
    line.failures = 0
    await settle(
      s,
      name,
      batch,
      refused.map(({ id, why }) => ({ id, why: withoutSecrets(why, line.secrets) })),
    )
    line.pages = Math.min(line.sink.batch.pages, line.pages * 2)
  }
}

const withoutSecrets = (text: string, secrets: string[]) =>
  secrets.reduce((clean, one) => clean.replaceAll(one, '***'), text)

/** Gives up waiting when the scheduler stops or no longer leads; what was under way is given again. */
async function whileStill<T>(still: () => boolean, work: Promise<T>): Promise<T> {
  let watch: NodeJS.Timeout | undefined
  const ended = new Promise<never>((_, reject) => {
    watch = setInterval(() => still() || reject(new Error('the scheduler stops')), 250)
  })
  return Promise.race([work, ended]).finally(() => clearInterval(watch))
}

/** Leaves the sink alone for a while. */
function rest(line: Line, error: unknown): void {
  line.failures++
  const waitMs = Math.min(500 * 2 ** Math.min(line.failures - 1, 20), LONGEST_WAIT_MS)
  line.notBefore = performance.now() + (error instanceof SinkBusy ? error.waitMs : waitMs)
}

/** Writes down, at the page that is next, why it waits. @returns how often the sink failed at it. */
async function noteFault(
  s: Services,
  { id, tries }: WaitingPage,
  why: string,
  counts: boolean,
): Promise<number> {
  const now = tries + (counts ? 1 : 0)
  await change(s.database.pool, 'UPDATE sink_outbox SET tries = ?, detail = ? WHERE id = ?', [
    now,
    why.slice(0, 500),
    id,
  ])
  return now
}

/** Pages that were stored anew while they were given stay, and are given again. */
async function settle(s: Services, sink: string, batch: WaitingPage[], refused: Refused[]): Promise<void> {
  const faults = new Map<string, string>()
  for (const { id, why } of refused) faults.set(id.slice(0, id.lastIndexOf('-')), why)
  const taken = batch.filter((page) => !faults.has(pageId(page)))
  if (taken.length > 0)
    await change(s.database.pool, 'DELETE FROM sink_outbox WHERE id IN (?) AND (id, version) IN (?)', [
      taken.map(({ id }) => id),
      taken.map(({ id, version }) => [id, version]),
    ])
  for (const page of batch) {
    const why = faults.get(pageId(page))
    if (why === undefined) continue
    s.log.warn(
      { sink, run: page.runId, page: pageId(page), cause: why },
      'a sink refuses the items of a page',
    )
    await change(
      s.database.pool,
      "UPDATE sink_outbox SET state = 'dead', detail = ? WHERE id = ? AND version = ?",
      [why.slice(0, 500), page.id, page.version],
    )
  }
}
