import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { buildConsole } from '../cli/console-build'
import { packageFile } from '../cli/package-file'
import { freePort } from '../cli/stack/ports'
import { childEnv } from '../core/env'

/** `npm start` as a person runs it: the whole of it, each time with a folder of its own. */
let stateDir: string
let port: number
let running: ChildProcess[] = []

beforeAll(() => buildConsole((message) => console.warn(message)), 400_000)
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'orbweaver-start-'))
  port = await freePort()
})
afterEach(async () => {
  for (const child of running) {
    const ended = child.exitCode === null && child.signalCode === null && once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
  running = []
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
})

function up(...args: string[]) {
  const child = spawn(
    process.execPath,
    [packageFile('cli/start.mjs'), 'up', '--no-demo', '--port', String(port), '--workers', '1', ...args],
    {
      env: childEnv({ STATE_DIR: stateDir }),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  running.push(child)
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    printed += text
  })
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, printed }))
  const isUp = vi.waitUntil(() => printed.includes('Everything is up') || child.exitCode !== null, {
    timeout: 60_000,
    interval: 50,
  })
  return { child, ended, isUp, printed: () => printed }
}

const children = async (pid: number) =>
  (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').map(Number)
/** The commands of those that still run: what has ended, and its new parent has not yet waited for, does not. */
const alive = (pids: number[]) =>
  pids.flatMap((pid) => {
    try {
      const ended = /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
      return ended ? [] : readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    } catch {
      return []
    }
  })

test('it comes up with a link to sign in, tells a second start that it is up, and SIGINT stops it within ten seconds', async () => {
  const first = up()
  await first.isUp
  const link = /http:\/\/127\.0\.0\.1:\d+\/welcome\?token=\S+/.exec(first.printed())
  expect(link, first.printed()).not.toBeNull()
  expect((await fetch(link![0])).status).toBe(200)
  expect(await (await fetch(`http://127.0.0.1:${port}/healthz`)).json()).toEqual({ live: true })
  expect(await (await fetch(`http://127.0.0.1:${port}/readyz`)).json()).toMatchObject({ ready: true })

  const second = await up().ended
  expect(second.code).toBe(1)
  expect(second.printed).toMatch(/^Orbweaver is up already at http:\/\/127\.0\.0\.1:\d+; .*--port \d+\.\n$/)

  const all = await children(first.child.pid!)
  const commands = await Promise.all(all.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8')))
  for (const part of [/redis|valkey/, /mariadbd|mysqld/, /scheduler\.js/, /worker\.js/])
    expect(commands.filter((command) => part.test(command))).toHaveLength(1)
  const worker = all[commands.findIndex((command) => command.includes('worker.js'))]
  expect(await readFile(`/proc/${worker}/environ`, 'utf8')).toContain('UV_THREADPOOL_SIZE=16')
  const began = Date.now()
  first.child.kill('SIGINT')
  const { code, printed } = await first.ended
  expect(code, printed).toBe(0)
  expect(Date.now() - began).toBeLessThan(10_000)
  // What was killed because its time was over may still wait for its disk.
  await vi.waitFor(() => expect(alive(all)).toEqual([]), 10_000)
  expect(await readdir(join(stateDir, 'users'))).toEqual([])
}, 120_000)

test('stopped in the middle of a crawl it ends in order, and the crawl goes on at the next start', async () => {
  const links = Array.from({ length: 50 }, (_, n) => `<a href="/${n}">${n}</a>`).join('')
  const asked: string[] = []
  const site = createServer((request, response) => {
    asked.push(request.url!)
    response.setHeader('content-type', 'text/html').end(request.url === '/' ? links : 'a page')
  }).listen(0, '127.0.0.1')
  await once(site, 'listening')
  const pages = () => asked.filter((path) => path !== '/robots.txt')
  const { port: sitePort } = site.address() as AddressInfo
  try {
    const first = up(`http://127.0.0.1:${sitePort}/`, '--allow-private')
    await vi.waitUntil(() => pages().length > 2 || first.child.exitCode !== null, 60_000)
    first.child.kill('SIGINT')
    const { code, printed } = await first.ended
    expect(code, printed).toBe(0)
    const sofar = pages().length
    const again = up()
    await vi.waitUntil(() => pages().length > sofar + 2 || again.child.exitCode !== null, 60_000)
    expect(new Set(pages()).size).toBeGreaterThan(sofar + 1)
  } finally {
    site.close()
    site.closeAllConnections()
  }
}, 150_000)

test('a worker that is killed comes back; when all is killed, nothing stays behind', async () => {
  const { child, isUp, printed } = up()
  await isUp
  const before = await children(child.pid!)
  const commands = await Promise.all(before.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8')))
  process.kill(before[commands.findIndex((command) => command.includes('worker.js'))]!, 'SIGKILL')
  await vi.waitFor(
    () => expect(printed()).toMatch(/worker-1 ended \(signal SIGKILL\) and is started again/),
    5_000,
  )
  await vi.waitFor(async () => expect(await children(child.pid!)).toHaveLength(before.length), 5_000)

  const all = await children(child.pid!)
  child.kill('SIGKILL')
  await vi.waitFor(() => expect(alive(all)).toEqual([]), 15_000)
}, 120_000)

test('when the database dies, it says so, stops the rest and ends with code 1', async () => {
  const { child, isUp, ended } = up()
  await isUp
  const all = await children(child.pid!)
  const { database } = JSON.parse(await readFile(join(stateDir, 'stack.json'), 'utf8'))
  process.kill(database.pid, 'SIGKILL')
  const { code, printed } = await ended
  expect(code).toBe(1)
  expect(printed).toMatch(/(MariaDB|MySQL) ended while in use\. The end of .*database\.log says why:/)
  await vi.waitFor(() => expect(alive(all)).toEqual([]), 5_000)
}, 120_000)

test('a port in use is one sentence with a remedy, and nothing is started', async () => {
  const other = createServer((_, response) => response.end('not ours')).listen(port, '127.0.0.1')
  await once(other, 'listening')
  const { code, printed } = await up().ended
  other.close()
  expect(code).toBe(1)
  expect(printed).toBe(
    `Port ${port} is in use by another program; end that, or choose another port: npm start -- --port ${port + 1}.\n`,
  )
  expect(await readdir(stateDir)).toEqual([])
})

test('wrong arguments end with code 2 and one sentence, before anything is started', async () => {
  for (const [args, sentence] of [
    [['--bogus'], /unknown option '--bogus'/i],
    [['ftp://example.com/'], /ftp/],
    [['http://10.0.0.1/'], /private address/],
    [['http://example.com/', '--spider', '/no/such/file.json'], /\/no\/such\/file\.json/],
    [['--port', 'x'], /--port/],
  ] as const) {
    const { code, printed } = await up(...args).ended
    expect({ args, code, lines: printed.trim().split('\n').length }).toEqual({ args, code: 2, lines: 1 })
    expect(printed).toMatch(sentence)
  }
  expect(await readdir(stateDir)).toEqual([])
}, 60_000)
