import * as keys from './keys'
import type { Queue } from './queue'
import type { State } from './states'
import type { NewTask } from './task'
import { readRecord, readTask, refOf } from './wire'

type Listed = { tasks: (NewTask & { ref: string })[]; cursor: string }

/** Entries looked at in one command, and commands in one call: a page of a small run within a big queue may come short. */
const LOOK = 500
const LOOKS = 20

/** A page of a run's tasks. The cursor is the last index entry looked at, so that entries coming and going skip none. */
export async function listTasks(
  { redis, name }: Pick<Queue, 'redis' | 'name'>,
  run: number,
  state: State,
  cursor: string,
  limit: number,
): Promise<Listed> {
  const tasks: Listed['tasks'] = []
  for (let look = 0; look < LOOKS; look++) {
    const entries = await indexPage(cursor)
    for (const { ref, at } of entries) {
      cursor = at
      if (!ref.startsWith(`${run}:`)) continue
      const text = await redis.hget(keys.tasksKey(name), ref)
      const record = text ? readRecord(text) : null
      if (record) tasks.push(readTask(ref, record.host, record.priority, record.body))
      if (tasks.length >= limit) return { tasks, cursor }
    }
    if (entries.length < LOOK) return { tasks, cursor: '0' }
  }
  return { tasks, cursor }

  async function indexPage(after: string): Promise<{ ref: string; at: string }[]> {
    if (state === 'failed') {
      const from = after === '0' ? `(${run}\x01` : `(${after}`
      const members = await redis.zrevrangebylex(keys.deadKey(name), from, `[${run}\0`, 'LIMIT', 0, LOOK)
      return members.map((member) => ({ ref: refOf(run, member.slice(-22)), at: member }))
    }
    if (state === 'pending') {
      const from = after === '0' ? '-' : `(${after}`
      const members = await redis.zrangebylex(keys.pendingKey(name), from, '+', 'LIMIT', 0, LOOK)
      return members.map((member) => ({ ref: member.slice(member.lastIndexOf('\0') + 1), at: member }))
    }
    if (state !== 'running' && state !== 'retry') return []
    const key = state === 'running' ? keys.leasedKey(name) : keys.delayedKey(name)
    const start = Number(after)
    const refs = await redis.zrange(key, String(start), String(start + LOOK - 1))
    return refs.map((ref, at) => ({ ref, at: String(start + at + 1) }))
  }
}
