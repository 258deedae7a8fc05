import { type Counts, STATES, type State } from './states'
import type { Ack, AckReply, Lease, NewTask } from './task'
import { refOf } from './wire'

/**
 * What the queue promises, in plain maps: the model that the property test compares Redis with. Time is a number it is
 * told. Where the queue may choose (which host first, the jitter) the model says what is allowed.
 */
interface ModelTask {
  run: number
  task: NewTask
  state: 'pending' | 'running' | 'retry' | 'failed'
  token: string
  deliveries: number
  attempts: number
  begun: boolean
  arrival: number
  /** Lease expiry (running) or due time (retry). */
  at: number
  hard: number
}

interface ModelRun {
  state: 'open' | 'cancelled' | 'finished'
  cap: number | null
  /** URLs of each host at most. */
  share: number | null
  shares: Map<string, number>
  /** Shared between runs with the same memory. */
  seen: Set<string>
  counts: Counts
}

const REMEMBERED_MS = 60_000
const JITTER = 0.33

export class Model {
  now = 0
  epoch = 0
  paused = false
  maxRunning: number | null = null
  readonly runs = new Map<number, ModelRun>()
  readonly tasks = new Map<string, ModelTask>()
  readonly inbox: string[] = []
  rejected = 0
  private readonly said = new Map<string, { what: string; at: number }>()
  /** Start of the last fetch of each host, and the delay that was in force then. */
  private readonly started = new Map<string, { at: number; delay: number }>()
  /** What a host's answers call for, and when an error last lengthened it. */
  private readonly paces = new Map<string, { pace: number; slowedAt: number }>()
  private readonly memories = new Map<string, Set<string>>()
  private arrivals = 0

  constructor(
    readonly delayMs: number,
    readonly perHost: number,
  ) {}

  openRun(run: number, memory: string, cap: number | null, share: number | null): void {
    const known = this.runs.get(run)
    if (known) {
      if (known.state === 'finished') known.state = 'open'
      return
    }
    const seen = this.memories.get(memory) ?? new Set<string>()
    this.memories.set(memory, seen)
    const counts = Object.fromEntries([...STATES, 'admitted'].map((state) => [state, 0])) as Counts
    this.runs.set(run, { state: 'open', cap, share, shares: new Map(), seen, counts })
  }

  admit(run: number, tasks: NewTask[]) {
    const known = this.runs.get(run)
    if (known?.state !== 'open') return { admitted: 0, duplicate: 0, refused: tasks.length }
    const reply = { admitted: 0, duplicate: 0, refused: 0 }
    const over = new Set<string>()
    for (const task of tasks) {
      if (known.seen.has(task.id) || over.has(task.id)) reply.duplicate++
      else if (
        (known.cap !== null && known.counts.admitted >= known.cap) ||
        (known.share !== null && (known.shares.get(task.host) ?? 0) >= known.share)
      ) {
        over.add(task.id)
        reply.refused++
      } else {
        reply.admitted++
        known.seen.add(task.id)
        known.counts.admitted++
        known.shares.set(task.host, (known.shares.get(task.host) ?? 0) + 1)
        known.counts.pending++
        this.tasks.set(refOf(run, task.id), {
          run,
          task,
          state: 'pending',
          token: '',
          deliveries: 0,
          attempts: 0,
          begun: false,
          arrival: this.arrivals++,
          at: 0,
          hard: 0,
        })
      }
    }
    return reply
  }

  /** Takes the queue's answer, or throws saying what is wrong with it. */
  claim(max: number, leaseMs: number, hardMs: number, leases: Lease[]): void {
    if (this.paused) {
      if (leases.length > 0) throw new Error('model: a paused queue gave leases')
      return
    }
    for (const task of this.tasks.values())
      if (task.state === 'retry' && task.at <= this.now) this.move(task, 'pending')
    const running = [...this.tasks.values()].filter(({ state }) => state === 'running').length
    const room = Math.min(max, this.maxRunning === null ? max : Math.max(0, this.maxRunning - running))
    const [least, most] = this.claimable()
    const enough = leases.length >= Math.min(room, least) && leases.length <= Math.min(room, most)
    if (!enough)
      throw new Error(`model: ${leases.length} leases, but ${least} to ${most} can be had and ${room} may be`)
    let last: Lease | undefined
    for (const lease of leases) {
      const task = this.tasks.get(lease.ref)
      if (task?.state !== 'pending') throw new Error(`model: ${lease.ref} was leased, but is ${task?.state}`)
      const first = this.pendingOf(task.task.host)[0]!
      if (first !== task) throw new Error(`model: ${lease.ref} was leased before ${first.task.url}`)
      if (this.places(task.task.host)[1] < 1)
        throw new Error(`model: ${lease.ref} was leased, but its host has no place`)
      if (lease.deliveries !== task.deliveries || lease.attempts !== task.attempts)
        throw new Error(`model: ${lease.ref} was leased with other budgets`)
      if (last && last.token >= lease.token) throw new Error('model: tokens do not grow')
      if (last && last.priority < lease.priority) throw new Error('model: a higher priority went later')
      last = lease
      this.move(task, 'running')
      Object.assign(task, {
        token: lease.token,
        begun: false,
        at: Math.min(this.now + leaseMs, this.now + hardMs),
      })
      task.hard = this.now + hardMs
      this.start(task.task.host)
    }
  }

  held(ref: string, token: string): ModelTask | null {
    const task = this.tasks.get(ref)
    if (task?.state !== 'running' || task.token !== token) return null
    if (this.runs.get(task.run)!.state === 'cancelled' || Number(token.slice(0, 6)) !== this.epoch)
      return null
    return task
  }

  begin(ref: string, token: string): 'OK' | 'STALE' {
    const task = this.held(ref, token)
    if (!task) return 'STALE'
    if (!task.begun) {
      task.begun = true
      task.deliveries++
      this.start(task.task.host)
    }
    return 'OK'
  }

  /** @returns true when the lease is lost. */
  extend(ref: string, token: string, leaseMs: number): boolean {
    const task = this.held(ref, token)
    if (!task || this.now >= task.hard) return true
    task.at = Math.min(this.now + leaseMs, task.hard)
    return false
  }

  ack(acks: Ack[]): AckReply[] {
    const links = new Map<number, NewTask[]>()
    const replies = acks.map(({ ref, token, state, answerMs, links: of }): AckReply => {
      const task = this.held(ref, token)
      if (!task) return this.repeated(token, state)
      this.said.set(token, { what: state, at: this.now })
      if (answerMs !== undefined) this.answered(task.task.host, answerMs)
      if (state === 'failed') this.move(task, 'failed')
      else this.end(task, state)
      if (of.length > 0) links.set(task.run, [...(links.get(task.run) ?? []), ...of])
      return 'OK'
    })
    for (const [run, tasks] of links) this.admit(run, tasks)
    return replies
  }

  addLinks(ref: string, token: string, links: NewTask[]): 'OK' | 'STALE' {
    const task = this.held(ref, token)
    if (!task) return 'STALE'
    this.admit(task.run, links)
    return 'OK'
  }

  retry(ref: string, token: string, delayMs: number): AckReply {
    const task = this.held(ref, token)
    if (!task) return this.repeated(token, 'retry')
    this.said.set(token, { what: 'retry', at: this.now })
    task.attempts++
    task.at = this.now + delayMs
    this.move(task, 'retry')
    return 'OK'
  }

  release(ref: string, token: string): 'OK' | 'STALE' {
    const task = this.held(ref, token)
    if (!task) return 'STALE'
    if (task.begun) task.deliveries--
    this.move(task, 'pending')
    return 'OK'
  }

  reap(maxDeliveries: number): { returned: number; dead: string[] } {
    const reply = { returned: 0, dead: [] as string[] }
    for (const [ref, task] of [...this.tasks]) {
      if (task.state !== 'running' || task.at > this.now) continue
      if (task.begun && task.deliveries >= maxDeliveries) {
        this.move(task, 'failed')
        reply.dead.push(ref)
      } else {
        this.move(task, 'pending')
        reply.returned++
      }
    }
    return reply
  }

  redrive(run: number): number {
    const known = this.runs.get(run)
    if (!known || known.state === 'cancelled') return 0
    const dead = [...this.tasks.values()].filter((task) => task.run === run && task.state === 'failed')
    for (const task of dead) {
      task.deliveries = 0
      task.attempts = 0
      this.move(task, 'pending')
    }
    if (dead.length > 0) known.state = 'open'
    return dead.length
  }

  cancelRun(run: number): number {
    const known = this.runs.get(run)
    if (!known || known.state === 'finished') return 0
    known.state = 'cancelled'
    const open = [...this.tasks.values()].filter((task) => task.run === run && task.state !== 'failed')
    for (const task of open) this.end(task, 'cancelled')
    return open.length
  }

  cancelUrls(run: number, ids: string[]): number {
    let many = 0
    for (const id of new Set(ids)) {
      const task = this.tasks.get(refOf(run, id))
      if (!task || task.state === 'failed') continue
      this.end(task, 'cancelled')
      many++
    }
    return many
  }

  finish(run: number): boolean {
    const known = this.runs.get(run)
    if (!known || this.open(run) > 0) return false
    if (known.state === 'open') known.state = 'finished'
    return true
  }

  /** Open tasks of a run. */
  open(run: number): number {
    const counts = this.runs.get(run)?.counts
    return counts ? counts.pending + counts.running + counts.retry : 0
  }

  /** The host says that it is asked too much. */
  slowDown(host: string): void {
    const { pace, slowedAt } = this.paceOf(host)
    if (this.now < slowedAt + pace) return
    const doubled = Math.min(60_000, 2 * Math.max(pace, this.delayMs, 250))
    this.paces.set(host, { pace: Math.max(pace, doubled), slowedAt: this.now })
  }

  private answered(host: string, ms: number): void {
    const { pace, slowedAt } = this.paceOf(host)
    const wanted = this.delayMs === 0 ? 0 : Math.min(2 * ms, 2 * Math.max(pace, this.delayMs), 60_000)
    const next = Math.max(Math.floor(pace * 0.9), wanted)
    this.paces.set(host, { pace: next <= Math.max(this.delayMs, 100) ? 0 : next, slowedAt })
  }

  private paceOf(host: string): { pace: number; slowedAt: number } {
    return this.paces.get(host) ?? { pace: 0, slowedAt: Number.NEGATIVE_INFINITY }
  }

  private delayOf(host: string): number {
    return Math.max(this.delayMs, this.paceOf(host).pace)
  }

  private start(host: string): void {
    this.started.set(host, { at: this.now, delay: this.delayOf(host) })
  }

  private repeated(token: string, what: string): AckReply {
    const said = this.said.get(token)
    return said?.what === what && this.now - said.at <= REMEMBERED_MS ? 'DONE_ALREADY' : 'STALE'
  }

  private move(task: ModelTask, to: 'pending' | 'running' | 'retry' | 'failed'): void {
    this.count(task, to)
    task.state = to
  }

  private end(task: ModelTask, to: State): void {
    this.count(task, to)
    this.tasks.delete(refOf(task.run, task.task.id))
  }

  private count(task: ModelTask, to: State): void {
    const { counts } = this.runs.get(task.run)!
    counts[task.state]--
    counts[to]++
  }

  private pendingOf(host: string): ModelTask[] {
    return [...this.tasks.values()]
      .filter(({ state, task }) => state === 'pending' && task.host === host)
      .sort((a, b) => b.task.priority - a.task.priority || a.arrival - b.arrival)
  }

  /** How many tasks of a host may be leased now: surely, and at most. */
  private places(host: string): [number, number] {
    const running = [...this.tasks.values()].filter(
      ({ state, task }) => state === 'running' && task.host === host,
    ).length
    const room = Math.max(0, (this.delayOf(host) === 0 ? this.perHost : 1) - running)
    const { at, delay } = this.started.get(host) ?? { at: Number.NEGATIVE_INFINITY, delay: 0 }
    const waited = this.now - at
    return [
      delay === 0 || waited > delay * (1 + JITTER) + 1 ? room : 0,
      delay === 0 || waited >= Math.floor(delay * (1 - JITTER)) ? room : 0,
    ]
  }

  private claimable(): [number, number] {
    let least = 0
    let most = 0
    for (const host of new Set([...this.tasks.values()].map(({ task }) => task.host))) {
      const many = this.pendingOf(host).length
      const [surely, atMost] = this.places(host)
      least += Math.min(many, Math.max(0, surely))
      most += Math.min(many, Math.max(0, atMost))
    }
    return [least, most]
  }
}
