import { describe, expect, test } from 'vitest'
import { turnClock, withPatch } from './queue-fixture'
import { type Command, play } from './queue-play'
import type { ScriptName } from './script'

/**
 * Negative controls: for each fault that a change could bring into a script, the shortest play that shows it, and what
 * must notice it, an invariant of the audit or the model. Without the fault the same play passes.
 *
 * URL n is on host n % 3; its priority is 5 when n % 7 = 1, −1000 when n % 7 = 2. Runs 2 and 3 share what they have seen,
 * run 1 has maxPages 6. A lease is meant by its age: 0 is the newest.
 */
interface Fault {
  script: ScriptName
  text: string
  instead: string
  commands: Command[]
  caughtBy: RegExp
  perHost?: number
  delayMs?: 0 | 100
}

const admit = (run: number, ...urls: number[]): Command => ({ do: 'admit', run, urls })
const claim = (max = 6): Command => ({ do: 'claim', max })
const begin = (...leases: number[]): Command => ({ do: 'begin', leases })
const release = (...leases: number[]): Command => ({ do: 'release', leases })
const extend = (...leases: number[]): Command => ({ do: 'extend', leases })
const retry = (lease: number, delay = 0): Command => ({ do: 'retry', lease, delay })
const tick = (ms: number): Command => ({ do: 'tick', ms })
const ack = (state: 'done' | 'failed' | 'ignored', ...urls: number[]): Command => ({
  do: 'ack',
  acks: [{ lease: 0, state, urls }],
})
const reap: Command = { do: 'reap', run: 2 }
const of = (name: 'redrive' | 'cancelRun' | 'finish'): Command => ({ do: name, run: 2 })

const held = [admit(2, 0), claim()]
const died = [...held, begin(0), tick(1100), reap, claim(), begin(0), tick(1100), reap]

const FAULTS: Record<string, Fault> = {
  'an ack leaves the lease behind': {
    script: 'ack',
    text: "redis.call('ZREM', LEASED, ref)\n    redis.call('HDEL'",
    instead: "redis.call('HDEL'",
    commands: [...held, ack('done')],
    caughtBy: /^I4 running/,
  },
  'the pace of a host is not heeded': {
    script: 'claim',
    text: 'return math.max(floor_of(host), host.pace)',
    instead: 'return floor_of(host)',
    commands: [admit(2, 0, 3), { do: 'slow', url: 0 }, claim()],
    perHost: 3,
    delayMs: 0,
    caughtBy: /^model: 2 leases/,
  },
  'a good answer changes no pace': {
    script: 'ack',
    text: 'host.pace = math.max(math.floor(host.pace * 0.9), wanted)',
    instead: '',
    commands: [
      admit(2, 0, 3, 6),
      claim(1),
      { do: 'ack', acks: [{ lease: 0, state: 'done', urls: [], answerMs: 300 }] },
      tick(150),
      claim(1),
      { do: 'ack', acks: [{ lease: 0, state: 'done', urls: [], answerMs: 300 }] },
      tick(133),
      claim(1),
    ],
    delayMs: 100,
    caughtBy: /^model: 1 leases/,
  },
  'the budget of a host is not heeded': {
    script: 'admit',
    text: '(left and left[host] <= 0)',
    instead: 'false',
    commands: [{ do: 'open', run: 3 }, admit(3, 0, 3, 6, 9)],
    caughtBy: /^model: after admit/,
  },
  'an ack keeps the record': {
    script: 'ack',
    text: "redis.call('HDEL', TASKS, ref)",
    instead: '',
    commands: [...held, ack('done')],
    caughtBy: /^I4 tasks/,
  },
  'a claim leaves the task pending': {
    script: 'claim',
    text: "redis.call('ZREM', PENDING, first)",
    instead: '',
    commands: held,
    caughtBy: /^I4 pending/,
  },
  'a claim writes no lease': {
    script: 'claim',
    text: "redis.call('ZADD', LEASED, expiry, ref)",
    instead: '',
    commands: held,
    caughtBy: /^I4 running/,
  },
  'admission forgets what it has seen': {
    script: 'admit',
    text: "redis.call('SADD', KEYS[seen.first], unpack(ids))",
    instead: '',
    commands: [admit(1, 0)],
    caughtBy: /^I1 run 1: admitted 1, seen 0/,
  },
  'admission skips the index': {
    script: 'admit',
    text: "redis.call('ZADD', PENDING, unpack(members))",
    instead: '',
    commands: [admit(2, 0)],
    caughtBy: /^I4 pending/,
  },
  'admission miscounts': {
    script: 'admit',
    text: "count(plan.run, 'admitted', many)",
    instead: '',
    commands: [admit(2, 0)],
    caughtBy: /^I1 run 2: admitted 0/,
  },
  'an outcome is not counted': {
    script: 'ack',
    text: "move(run_in(ref), 'running', ack.state)",
    instead: "count(run_in(ref), 'running', -1)",
    commands: [...held, ack('done')],
    caughtBy: /^I1 run 2/,
  },
  'a task stays in the index of another state': {
    script: 'retry',
    text: "redis.call('ZADD', DELAYED, due, ref)",
    instead: "redis.call('ZADD', DELAYED, due, ref .. 'x')",
    commands: [...held, retry(0, 5000)],
    caughtBy: /^I2 2:.* is retry, but not in the index/,
  },
  'the token is not checked': {
    script: 'ack',
    text: 'and task.token == token',
    instead: '',
    commands: [
      ...held,
      tick(1100),
      reap,
      claim(),
      { do: 'ack', acks: [{ lease: 1, state: 'done', urls: [] }] },
    ],
    caughtBy: /^model: after ack/,
  },
  'the epoch is not checked': {
    script: 'ack',
    text: 'token:sub(1, 6) ~= EPOCH',
    instead: 'false',
    commands: [...held, { do: 'epoch' }, ack('done')],
    caughtBy: /^model: after ack/,
  },
  'the links of a page are dropped': {
    script: 'ack',
    text: 'admit_planned(plan_admission(run, links_of[run]))',
    instead: '',
    commands: [...held, ack('done', 3, 4)],
    caughtBy: /^model: .*"admitted":1\}, the model .*"admitted":3\}/,
  },
  'a repeated ack is not known': {
    script: 'ack',
    text: 'remember(ack.token, ack.state)',
    instead: '',
    commands: [...held, ack('done'), { do: 'repeat' }],
    caughtBy: /^model: after ack .*STALE.*DONE_ALREADY/,
  },
  'a retry counts no attempt': {
    script: 'retry',
    text: 'task.attempts = task.attempts + 1',
    instead: '',
    commands: [...held, retry(0), claim()],
    caughtBy: /^model: .* budgets/,
  },
  'a retry gives no place back': {
    script: 'retry',
    text: 'give_place_back(task.host)',
    instead: '',
    commands: [...held, retry(0)],
    caughtBy: /^I2 host a.example: 1 in flight/,
  },
  'a retry leaves the lease behind': {
    script: 'retry',
    text: "redis.call('ZREM', LEASED, ref)",
    instead: '',
    commands: [...held, retry(0)],
    caughtBy: /^I4 running/,
  },
  'begin charges each time': {
    script: 'begin',
    text: "task.begun == '0'",
    instead: 'true',
    commands: [...held, begin(0), begin(0), tick(1100), reap],
    caughtBy: /^model: after reap/,
  },
  'release keeps the charge': {
    script: 'release',
    text: 'task.deliveries = task.deliveries - 1',
    instead: '',
    commands: [...held, begin(0), release(0), claim()],
    caughtBy: /^model: .* budgets/,
  },
  'release forgets the host': {
    script: 'release',
    text: 'settle_hosts()\nsave_counts()',
    instead: 'save_counts()',
    commands: [...held, release(0)],
    caughtBy: /^I2 host a.example: 1 in flight/,
  },
  'a host with work stands nowhere': {
    script: 'release',
    text: 'if priority and host.inflight < limit(host) then',
    instead: 'if false then',
    commands: [...held, release(0)],
    caughtBy: /^I2 host a.example: 1 pending, but its place is n/,
  },
  'reap makes no dead letters': {
    script: 'reap',
    text: "task.begun == '1' and",
    instead: 'false and',
    commands: died,
    caughtBy: /^model: after reap/,
  },
  'reap charges what never began': {
    script: 'reap',
    text: "task.begun == '1' and task.deliveries >=",
    instead: 'task.deliveries + 1 >=',
    commands: [...held, begin(0), tick(1100), reap, claim(), tick(1100), reap],
    caughtBy: /^model: after reap/,
  },
  'extend knows no hard limit': {
    script: 'extend',
    text: 'math.min(now + lease_ms, tonumber(task.hard))',
    instead: 'now + lease_ms',
    commands: [...held, tick(9500), extend(0)],
    caughtBy: /^I3 .* past its hard limit/,
  },
  'claim gives one token twice': {
    script: 'claim',
    text: "string.format('.%015.0f', next_seq())",
    instead: "'.000000000000001'",
    commands: [admit(2, 0), claim(), admit(2, 1), claim()],
    caughtBy: /^I3 .* is also that of/,
  },
  'claim gives a token from the future': {
    script: 'claim',
    text: "string.format('.%015.0f', next_seq())",
    instead: "'.000000999999999'",
    commands: held,
    caughtBy: /^I3 .* is later than/,
  },
  'claim knows no limit of a host': {
    script: 'claim',
    text: '(delay_of(host) > 0 or host.own > 0) and 1 or per_host',
    instead: '1000',
    commands: [admit(2, 0, 3), claim()],
    caughtBy: /^model: 2 leases, but 1 to 1 can be had/,
  },
  'claim knows no delay': {
    script: 'claim',
    text: 'host.next_at = math.max(host.next_at, math.ceil((from or now) + wait))',
    instead: '',
    delayMs: 100,
    commands: [admit(2, 0, 3), claim(1), ack('done'), claim(1)],
    caughtBy: /^model: 1 leases, but 0 to 0 can be had/,
  },
  'claim ignores the pause': {
    script: 'claim',
    text: "meta[6] == '1'",
    instead: 'false',
    commands: [admit(2, 0), { do: 'pause', on: true }, claim()],
    caughtBy: /^model: a paused queue/,
  },
  'claim ignores maxRunning': {
    script: 'claim',
    text: "meta[5] and meta[5] ~= ''",
    instead: 'false',
    commands: [admit(2, 0, 1, 2), { do: 'limit', to: 2 }, claim()],
    caughtBy: /^model: 3 leases, but 3 to 3 can be had and 2 may be/,
  },
  'priorities are upside down': {
    script: 'admit',
    text: 'next_seq() - priority * STEP',
    instead: 'next_seq() + priority * STEP',
    commands: [admit(2, 0, 1), claim()],
    caughtBy: /^model: a higher priority/,
  },
  'redrive keeps the old budgets': {
    script: 'redrive',
    text: 'task.deliveries, task.attempts = 0, 0',
    instead: '',
    commands: [...died, of('redrive'), claim()],
    caughtBy: /^model: .* budgets/,
  },
  'redrive leaves the dead letter behind': {
    script: 'redrive',
    text: "redis.call('ZREM', DEAD, member)",
    instead: '',
    commands: [...held, ack('failed'), of('redrive')],
    caughtBy: /^I4 failed/,
  },
  'cancel leaves running tasks in the lease index': {
    script: 'cancel-run',
    text: "redis.call('ZREM', LEASED, ref)",
    instead: '',
    commands: [...held, of('cancelRun')],
    caughtBy: /^I4 running/,
  },
  'finish closes a run with work in retry': {
    script: 'finish',
    text: "run .. '.retry')",
    instead: "run .. '.done')",
    commands: [...held, retry(0, 5000), of('finish')],
    caughtBy: /^model: after finish/,
  },
  'maxPages is off by one': {
    script: 'admit',
    text: 'many >= room',
    instead: 'many > room',
    commands: [admit(1, 0, 1, 2, 3, 4, 5, 6)],
    caughtBy: /^model: after admit/,
  },
  'two runs with one memory fetch a page twice': {
    script: 'ack',
    text: 'if not fresh[id] then',
    instead: 'if false then',
    commands: [{ do: 'open', run: 3 }, admit(3, 5), ...held, ack('done', 5)],
    caughtBy: /^model: .*"admitted":2\}, the model .*"admitted":1\}/,
  },
  'the inbox keeps what was taken': {
    script: 'take-inbox',
    text: "redis.call('LPOP', INBOX, entries)",
    instead: '',
    commands: [{ do: 'push', urls: [0, 1] }, { do: 'take', run: 2, many: 2 }, claim()],
    caughtBy: /^model: after claim the queue says \[0,2\]/,
  },
}

const setClock = turnClock()

describe('the checks have teeth', () => {
  test.each(Object.entries(FAULTS))('it is noticed when %s', async (_, fault) => {
    const { script, text, instead, commands, caughtBy, perHost = 1, delayMs = 0 } = fault
    const game = { perHost, delayMs, commands }
    await play(game, setClock)
    const thrown = await withPatch(script, text, instead, () =>
      play(game, setClock).catch((error: Error) => error),
    )
    expect(thrown).toBeInstanceOf(Error)
    expect((thrown as Error).message).toMatch(caughtBy)
  })
})
