import * as keys from './keys'
import type { Queue } from './queue'
import { seenOf } from './seen'
import { type Counts, STATES } from './states'
import { deadMember, pendingMember, readRecord, splitRef, type TaskRecord } from './wire'

/** What `audit` found; `violations` is empty when all invariants hold. */
export interface QueueAudit {
  runs: Map<number, Counts>
  /** Each names the invariant (I1 …) and the numbers or the ref that break it. */
  violations: string[]
}

type Audited = Pick<Queue, 'redis' | 'name' | 'script'>

export async function auditQueue(queue: Audited, deep: boolean): Promise<QueueAudit> {
  const runs = await queue.redis.hgetall(keys.runsKey(queue.name))
  const own = Object.entries(runs)
    .map(([run, record]) => ({ run, seen: seenOf(queue.name, Number(run), record.split('|')[2]!) }))
    .filter(({ seen }) => seen.own && seen.kind === 'exact')
  const [violations, fields] = (await queue.script(
    'audit',
    own.map(({ run }) => run),
    own.flatMap(({ seen }) => seen.keys),
  )) as [string[], string[]]
  const counts = readCounts(fields)
  return { runs: counts, violations: deep ? [...violations, ...(await readAll(queue, counts))] : violations }
}

function readCounts(fields: string[]): Map<number, Counts> {
  const runs = new Map<number, Counts>()
  for (let at = 0; at < fields.length; at += 2) {
    const [run, state] = fields[at]!.split('.') as [string, keyof Counts]
    if (run === 'total') continue
    const zero = () => Object.fromEntries([...STATES, 'admitted'].map((name) => [name, 0])) as Counts
    const counts = runs.get(Number(run)) ?? zero()
    counts[state] = Number(fields[at + 1])
    runs.set(Number(run), counts)
  }
  return runs
}

const STATE_OF = { p: 'pending', r: 'running', t: 'retry', f: 'failed' } as const
interface Standing {
  pending: number
  running: number
}

/**
 * I2: every task is in the index of its state, every host stands where its work can be taken from; and I4 for each run.
 * That no index holds more than that follows with I4, which the script checks: as many entries as tasks.
 */
async function readAll(queue: Audited, counts: Map<number, Counts>): Promise<string[]> {
  const violations: string[] = []
  const hosts = new Map<string, Standing>()
  const found = new Map<string, number>()
  await scan(queue, keys.tasksKey(queue.name), async (page) => {
    const records = page.map(([ref, text]) => [ref, readRecord(text)] as const)
    const placed = await pipelined(queue, records, ([ref, record]) => indexEntry(queue.name, ref, record))
    for (const [at, [ref, record]] of records.entries()) {
      if (!record) {
        violations.push(`I2 ${ref}: its record cannot be read`)
        continue
      }
      const state = STATE_OF[record.state]
      if (placed[at] === null) violations.push(`I2 ${ref}: is ${state}, but not in the index of that state`)
      const field = `${splitRef(ref).run}.${state}`
      found.set(field, (found.get(field) ?? 0) + 1)
      const host = hosts.get(record.host) ?? { pending: 0, running: 0 }
      if (state === 'pending' || state === 'running') host[state]++
      hosts.set(record.host, host)
    }
  })
  for (const [run, has] of counts)
    for (const state of Object.values(STATE_OF)) {
      const many = found.get(`${run}.${state}`) ?? 0
      if (has[state] !== many)
        violations.push(`I4 run ${run}: ${state} is ${has[state]}, its tasks are ${many}`)
    }
  return [...violations, ...(await readHosts(queue, hosts))]
}

function indexEntry(queue: string, ref: string, record: TaskRecord | null): [key: string, member: string] {
  if (record?.state === 'r') return [keys.leasedKey(queue), ref]
  if (record?.state === 't') return [keys.delayedKey(queue), ref]
  if (record?.state === 'f') return [keys.deadKey(queue), deadMember(ref, record)]
  return [keys.pendingKey(queue), record ? pendingMember(ref, record) : ref]
}

async function readHosts(queue: Audited, working: Map<string, Standing>): Promise<string[]> {
  const violations: string[] = []
  const records = new Map<string, string[]>()
  await scan(queue, keys.hostKey(queue.name), async (page) => {
    for (const [host, text] of page) records.set(host, text.split('|'))
  })
  const names = [...new Set([...records.keys(), ...working.keys()])]
  const places = [
    ['r', keys.readyKey(queue.name)],
    ['t', keys.turnKey(queue.name)],
    ['i', keys.idleKey(queue.name)],
  ] as const
  const asked = names.flatMap((host) => places.map(([, key]): [string, string] => [key, host]))
  const scores = await pipelined(queue, asked, (entry) => entry)
  for (const [at, host] of names.entries()) {
    // A host whose only tasks are in retry or failed may be forgotten meanwhile.
    const { pending, running } = working.get(host) ?? { pending: 0, running: 0 }
    const [, , inflight = '0', , place = 'n'] = records.get(host) ?? []
    const found = places
      .filter((_, index) => scores[at * places.length + index] !== null)
      .map(([place]) => place)
    const fault = (what: string) => violations.push(`I2 host ${host}: ${what}`)
    if (Number(inflight) !== running) fault(`${inflight} in flight, but ${running} of its tasks are running`)
    if ((found.join() || 'n') !== place)
      fault(`its place is ${place}, but it stands in ${found.join() || 'none'}`)
    if (pending > 0 && running === 0 && place !== 'r' && place !== 't')
      fault(`${pending} pending, but its place is ${place}`)
    if (pending === 0 && records.has(host) && place !== (running > 0 ? 'n' : 'i'))
      fault(`no work, but its place is ${place}`)
  }
  return violations
}

async function scan(queue: Audited, key: string, page: (entries: [string, string][]) => Promise<void>) {
  let cursor = '0'
  // A hash that shrinks or grows meanwhile may show an entry twice.
  const seen = new Set<string>()
  do {
    const [next, fields] = await queue.redis.hscan(key, cursor, 'COUNT', 500)
    const entries: [string, string][] = []
    for (let at = 0; at < fields.length; at += 2) {
      if (!seen.has(fields[at]!)) entries.push([fields[at]!, fields[at + 1]!])
      seen.add(fields[at]!)
    }
    if (entries.length > 0) await page(entries)
    cursor = next
  } while (cursor !== '0')
}

/** The score of an index entry for each of `items`; null where it is missing. */
async function pipelined<T>(queue: Audited, items: T[], entry: (item: T) => [string, string]) {
  if (items.length === 0) return []
  const pipeline = queue.redis.pipeline()
  for (const item of items) pipeline.zscore(...entry(item))
  const replies = (await pipeline.exec()) ?? []
  return replies.map(([error, score]) => {
    if (error) throw error
    return score as string | null
  })
}
