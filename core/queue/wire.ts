import type { Lease, NewTask } from './task'

/** How tasks travel to the scripts and back; lua/include/task.lua is the other side. */

export const MAX_MEMBERS = 500

/** Arguments of one task: id, host, priority, body. @throws RangeError for a URL that holds a line break. */
export function taskArguments(task: NewTask): (string | number)[] {
  if (/\n/.test(task.url) || (task.referrer && /\n/.test(task.referrer)))
    throw new RangeError(
      `The URL ${JSON.stringify(task.url)} or its referrer holds a line break; canonicalise it first.`,
    )
  return [task.id, task.host, task.priority, taskBody(task)]
}

function taskBody(task: NewTask): string {
  const body = `${task.depth}\n${task.url}\n${task.referrer ?? ''}`
  return task.meta === undefined ? body : `${body}\n${task.meta}`
}

/**
 * Tasks that a script writes into the frontier at once. One takes 17 µs (exact) to 35 µs (Bloom), so 50 stay near 1 and
 * 2 ms, and under 10 ms while other work delays Redis; larger calls are hardly faster a task.
 */
export const ADMITTED_AT_ONCE = 50

export function* slices<T>(list: T[], size: number): Generator<T[]> {
  for (let from = 0; from < list.length; from += size) yield list.slice(from, from + size)
}

/** @throws RangeError naming the call, when there are more than one script takes. */
export function bounded(many: number, what: string): void {
  if (many > MAX_MEMBERS)
    throw new RangeError(`${what} takes ${MAX_MEMBERS} at most in one call, got ${many}; send them in parts.`)
}

export const refOf = (run: number, id: string) => `${run}:${id}`

export function splitRef(ref: string): { run: number; id: string } {
  const colon = ref.indexOf(':')
  return { run: Number(ref.slice(0, colon)), id: ref.slice(colon + 1) }
}

export function readTask(
  ref: string,
  host: string,
  priority: number,
  body: string,
): NewTask & { ref: string } {
  const [depth, url, referrer, ...meta] = body.split('\n')
  return {
    ref,
    id: splitRef(ref).id,
    url: url!,
    host,
    depth: Number(depth),
    priority,
    ...(referrer ? { referrer } : {}),
    ...(meta.length > 0 ? { meta: meta.join('\n') } : {}),
  }
}

/** Seven fields a lease, as claim answers them. */
export function readLeases(fields: unknown[], expiresAt: number): Lease[] {
  const leases: Lease[] = []
  for (let at = 0; at < fields.length; at += 7) {
    const [ref, token, deliveries, attempts, priority, host, body] = fields.slice(at, at + 7) as string[]
    leases.push({
      ...readTask(ref!, host!, Number(priority), body!),
      run: splitRef(ref!).run,
      token: token!,
      deliveries: Number(deliveries),
      attempts: Number(attempts),
      expiresAt,
    })
  }
  return leases
}

/** A task's record in Redis. */
export interface TaskRecord {
  state: 'p' | 'r' | 't' | 'f'
  token: string
  deliveries: number
  attempts: number
  begun: boolean
  priority: number
  order: string
  /** When it was claimed (r), is due (t) or died (f), ms. */
  at: number
  host: string
  body: string
}

export function readRecord(text: string): TaskRecord | null {
  const parts = text.split('|')
  if (parts.length < 11) return null
  const [state, token, deliveries, attempts, begun, priority, order, at, , host] = parts as string[]
  return {
    state: state as TaskRecord['state'],
    token: token!,
    deliveries: Number(deliveries),
    attempts: Number(attempts),
    begun: begun === '1',
    priority: Number(priority),
    order: order!,
    at: Number(at),
    host: host!,
    body: parts.slice(10).join('|'),
  }
}

export const pendingMember = (ref: string, { host, priority, order }: TaskRecord) =>
  `${host}\0${String(1000 - priority).padStart(4, '0')}\0${order.padStart(12, '0')}\0${ref}`

export const deadMember = (ref: string, { at }: TaskRecord) => {
  const { run, id } = splitRef(ref)
  return `${run}\0${String(at).padStart(13, '0')}\0${id}`
}
