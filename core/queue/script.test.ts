import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  addressesKey,
  addressLineKey,
  frontierKeys,
  proxyBansKey,
  proxyHealthKey,
  seenKey,
  sharesKey,
} from './keys'
import type { Queue } from './queue'
import { claim, contents, EXACT, freshQueue, restoreSnapshot, snapshot, task } from './queue-fixture'
import { runScript, type ScriptName, ScriptRefused } from './script'
import { SCRIPTS } from './scripts.generated'
import { seenArguments, seenOf } from './seen'
import type { Lease } from './task'
import { taskArguments } from './wire'

/**
 * For each script a call that works, on a queue that holds a bit of everything. Then each argument and each key in
 * turn is made bad: either the call works all the same (free text, a key it does not use), or it refuses, and then
 * every key of the queue holds byte for byte what it held.
 */
const SEEN = ['run:1:exact', 'run:2:exact']
const BAD_VALUES = ['', 'x', '-1', '1.5', '1e3', ' 1', '99999999999999999999', 'a\nb', '\0']

let queue: Queue
let seenKeys: string[]
let before: (Buffer | null)[]
let calls: Record<ScriptName, { args: (string | number)[]; keys?: string[] }>

beforeAll(async () => {
  queue = await freshQueue()
  seenKeys = [
    ...SEEN.map((scope) => seenKey(queue.name, scope)),
    ...[
      sharesKey(queue.name, 1),
      proxyHealthKey(queue.name),
      proxyBansKey(queue.name),
      addressesKey(queue.name),
      addressLineKey(queue.name, '192.0.2.1'),
    ],
  ]
  await queue.openRun(1, { dedupe: EXACT, maxPages: 50 })
  await queue.openRun(2, { dedupe: EXACT, maxPages: null })
  await queue.admit(1, [
    task(1),
    task(2),
    task(3),
    task(4, { host: 'b.example' }),
    task(5, { host: 'b.example' }),
  ])
  const held = await claim(queue, 4, 20_000, 60_000)
  await queue.begin(held)
  await queue.ack([{ ...held[0]!, state: 'failed', reason: 'http_403', links: [] }])
  await queue.retry(held[1]!, 60_000)
  await queue.admit(2, [task(9)])
  await queue.cancelRun(2)
  await queue.redis.rpush(queue.name, 'https://a.example/10', 'x')
  await queue.redis.rpush(`${queue.name}:rejected`, '{}')
  before = await snapshot(queue, seenKeys)
  calls = goodCalls(held[2]!)
})

afterAll(async () => {
  await queue.redis.unlink(...frontierKeys(queue.name), ...seenKeys)
  queue.redis.disconnect()
})

function goodCalls({ ref, token }: Lease): typeof calls {
  const memory = seenArguments(new Map([[1, seenOf(queue.name, 1, 'run:exact')]]))
  const link = taskArguments(task(20, { referrer: 'https://a.example/', meta: '{"a":1}' }))
  const seeing = (...args: (string | number)[]) => ({ args: [...memory.args, ...args], keys: memory.keys })
  return {
    configure: { args: [100, 2, 10, 0, 0, 1, '{"delayMs":100}'] },
    'set-epoch': { args: [3] },
    'open-run': { args: [3, 10, 2, 'days:7:4:@:exact'] },
    admit: seeing(1, ...link),
    claim: { args: [2, 1000, 5000, 0, 7, 'w1'] },
    begin: { args: [7, ref, token] },
    extend: { args: [1000, ref, token] },
    'add-links': seeing(ref, token, 1, ...link),
    ack: seeing(1, ref, token, 'failed', 'why', 40, 1, ...link),
    retry: { args: [ref, token, 100] },
    release: { args: [ref, token] },
    'address-turn': {
      args: ['192.0.2.1', 'a.example', 1000],
      keys: [addressesKey(queue.name), addressLineKey(queue.name, '192.0.2.1')],
    },
    'report-proxy': {
      args: [7, 'bad', 'a.example'],
      keys: [proxyHealthKey(queue.name), proxyBansKey(queue.name)],
    },
    hold: { args: ['a.example', 100, 50, 20, 1] },
    turn: { args: ['a.example', 100, 50, ''] },
    'end-turn': { args: ['a.example', 7, 100, 0] },
    hasten: { args: [0] },
    reap: { args: [10, 1] },
    purge: { args: [2] },
    redrive: { args: [1] },
    'cancel-run': { args: [1, '0'] },
    'cancel-urls': { args: [1, task(3).id] },
    finish: { args: [2] },
    forget: { args: [2], keys: [seenKeys[1]!] },
    'take-inbox': seeing(1, 'https://a.example/10', 1, '{}', 1, ...link),
    restore: seeing(1, 'failed', ...link),
    unseen: seeing(task(1).id),
    audit: { args: [1], keys: [seenKeys[0]!] },
  }
}

/** Null when it worked; the queue is put back either way. */
async function attempt(name: ScriptName, keys: string[], args: (string | number)[]): Promise<Error | null> {
  const start = await contents(queue, seenKeys)
  let refused: Error | null = null
  try {
    await runScript(queue.redis, name, keys, args)
  } catch (error) {
    refused = error as Error
    expect(
      await contents(queue, seenKeys),
      `${name} refused (${refused.message}) but changed something`,
    ).toEqual(start)
  }
  await restoreSnapshot(queue, before, seenKeys)
  return refused
}

const isRefusal = (error: Error) => error instanceof ScriptRefused || /^(DEDUPE|CLOSED) /.test(error.message)

describe.each(Object.keys(SCRIPTS) as ScriptName[])('the script %s', (name) => {
  const goodKeys = () => [...frontierKeys(queue.name), ...(calls[name].keys ?? [])]

  test('works as it is meant to be called', async () => {
    expect(await attempt(name, goodKeys(), calls[name].args)).toBe(null)
  })

  test('refuses bad arguments and changes nothing', async () => {
    const { args } = calls[name]
    for (const [at] of args.entries())
      for (const bad of BAD_VALUES) {
        const refused = await attempt(name, goodKeys(), args.with(at, bad))
        if (refused) expect(refused, `argument ${at} = ${JSON.stringify(bad)}`).toSatisfy(isRefusal)
      }
  })

  test('refuses too few and too many arguments and changes nothing', async () => {
    const { args } = calls[name]
    for (const wrong of [...args.map((_, at) => args.slice(0, at)), [...args, 'x'], [...args, '1', '2']]) {
      const refused = await attempt(name, goodKeys(), wrong)
      if (refused) expect(refused, `${wrong.length} arguments for ${args.length}`).toSatisfy(isRefusal)
    }
  })

  test('refuses missing keys and changes nothing', async () => {
    const keys = goodKeys()
    for (const few of [keys.slice(0, 15), []])
      expect(await attempt(name, few, calls[name].args)).toBeInstanceOf(ScriptRefused)
  })

  test('refuses a key of another type and changes nothing', async () => {
    for (const key of goodKeys()) {
      await queue.redis.set(key, 'a string of somebody')
      const refused = await attempt(name, goodKeys(), calls[name].args)
      if (refused) expect(refused, key).toSatisfy(isRefusal)
      await restoreSnapshot(queue, before, seenKeys)
    }
  })
})
