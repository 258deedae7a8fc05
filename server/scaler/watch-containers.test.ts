import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openServerRig, type ServerRig } from '../../tests/server-rig'
import { ofProject } from './docker-driver'
import { Engine } from './docker-engine'
import { watchContainers } from './watch-containers'

/** An engine that tells what a test wants told. On a real one: tests/containers.test.ts. */
let rig: ServerRig
let folder: string
let server: Server
let engine: Engine
let watch: { stop(): Promise<void> }
/** Streams of events that were asked for, with what each was to begin with. */
let streams: { since: number; response: ServerResponse }[]
let clock: number

beforeEach(async () => {
  rig = await openServerRig()
  folder = await mkdtemp(join(tmpdir(), 'orbweaver-events-'))
  streams = []
  clock = Date.now()
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://engine')
    if (pathname === '/events') {
      response.flushHeaders()
      streams.push({ since: Number(searchParams.get('since')), response })
    } else if (pathname.endsWith('/logs')) {
      const line = Buffer.from(
        pathname.includes('wordy') ? `${'early '.repeat(200)}the end` : 'the last line\n',
      )
      response.end(Buffer.concat([Buffer.of(2, 0, 0, 0, 0, 0, line.length >> 8, line.length & 255), line]))
    } else
      response.end(
        JSON.stringify({
          Config: {
            Labels: { 'com.docker.compose.project': 'p' },
            Env: [`QUEUE_KEY=${rig.queue}`],
          },
          HostConfig: { Memory: 256 * 1024 * 1024 },
        }),
      )
  })
  await new Promise<void>((resolve) => server.listen(join(folder, 'docker.sock'), resolve))
  engine = new Engine(`unix://${join(folder, 'docker.sock')}`)
  watch = watchContainers(rig.services, engine, () => ofProject(engine, 'scaler'))
  await vi.waitUntil(() => streams.length === 1)
})
afterEach(async () => {
  await watch.stop()
  await engine.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await rm(folder, { recursive: true, force: true })
  await rig.close()
})

function tell(container: string, Action: string, more: Record<string, string> = {}, laterMs = 1_000) {
  clock += laterMs
  const event = {
    Action,
    Actor: { ID: container, Attributes: { name: container, ...more } },
    timeNano: clock * 1e6,
  }
  streams.at(-1)!.response.write(`${JSON.stringify(event)}\n`)
}
const told = () => rig.rows('SELECT worker_id, queue, kind, detail FROM worker_events ORDER BY id')
/** What is on record once this last end is, which comes after all that was told before. */
async function toldBefore(container = 'last') {
  tell(container, 'die', { exitCode: '7' })
  await vi.waitFor(async () =>
    expect(await told()).toContainEqual(expect.objectContaining({ worker_id: container })),
  )
  return (await told()).slice(0, -1)
}
const end = (worker_id: string, kind: string, why: string) => ({
  worker_id,
  queue: rig.queue,
  kind,
  detail: `${why}; last lines: the last line`,
})

test('each end unasked is told with its cause, memory apart, and with its last lines', async () => {
  tell('crashed', 'die', { exitCode: '1' })
  tell('killed', 'kill', { signal: '9' })
  tell('killed', 'die', { exitCode: '137' })
  tell('full', 'oom')
  tell('full', 'die', { exitCode: '137' })
  tell('silently-full', 'die', { exitCode: '137' })
  expect(await toldBefore()).toEqual([
    end('crashed', 'restart', 'exit code 1'),
    end('killed', 'restart', 'killed by signal 9'),
    end('full', 'oom', 'out of memory (limit 256 MiB)'),
    end('silently-full', 'oom', 'out of memory (limit 256 MiB)'),
  ])
})

test('an end that was asked for is none, also when it took a SIGKILL, and says nothing of the next one', async () => {
  tell('a', 'kill', { signal: '15' })
  tell('a', 'die', { exitCode: '0' })
  tell('b', 'kill', { signal: '15' })
  tell('b', 'kill', { signal: '9' }, 35_000)
  tell('b', 'die', { exitCode: '137' })
  tell('a', 'die', { exitCode: '1' })
  tell('b', 'kill', { signal: '9' })
  tell('b', 'die', { exitCode: '137' })
  expect(await toldBefore()).toEqual([
    end('a', 'restart', 'exit code 1'),
    end('b', 'restart', 'killed by signal 9'),
  ])
})

test('what happened long before an end is not its cause', async () => {
  tell('a', 'kill', { signal: '1' })
  tell('a', 'oom')
  tell('a', 'die', { exitCode: '3' }, 60_000)
  expect(await toldBefore()).toEqual([end('a', 'restart', 'exit code 3')])
})

test('of many words before an end the newest are told', async () => {
  tell('wordy', 'die', { exitCode: '1' })
  expect(await toldBefore()).toEqual([
    expect.objectContaining({
      detail: expect.stringMatching(/^exit code 1; last lines: … .{380,400}the end$/),
    }),
  ])
})

test('an engine that goes away is asked from the last event on, and what was seen before is remembered', async () => {
  tell('a', 'oom')
  await toldBefore('between')
  const at = clock / 1000
  streams[0]!.response.destroy()
  await vi.waitUntil(() => streams.length === 2, 10_000)
  expect(streams[1]!.since - at).toBeGreaterThan(0)
  expect(streams[1]!.since - at).toBeLessThan(0.001)
  tell('a', 'die', { exitCode: '137' })
  expect((await toldBefore()).slice(1)).toEqual([end('a', 'oom', 'out of memory (limit 256 MiB)')])
})

test('an end that could not be recorded is recorded once it can be, with its cause', async () => {
  const { pool } = rig.services.database
  const away = vi
    .spyOn(pool, 'getConnection')
    .mockRejectedValue(Object.assign(new Error('gone'), { fatal: true }))
  tell('a', 'kill', { signal: '9' })
  tell('a', 'die', { exitCode: '137' })
  await vi.waitUntil(() => streams.length === 2, 30_000)
  away.mockRestore()
  // The engine tells it again, since it was asked from before it on.
  expect(streams[1]!.since).toBeLessThan(clock / 1000)
  clock -= 1_000
  tell('a', 'die', { exitCode: '137' })
  expect(await toldBefore()).toEqual([end('a', 'restart', 'killed by signal 9')])
})
