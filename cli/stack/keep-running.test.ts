import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { childEnv } from '../../core/env'
import { type Guardian, startGuardian } from './guardian'
import { type Ended, type Kept, keepRunning } from './keep-running'
import { signal } from './server'

let folder: string
let guardian: Guardian
let kept: Kept | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orbweaver-keep-'))
  guardian = startGuardian()
})
afterEach(async () => {
  await kept?.stop(0)
  guardian.close()
  await rm(folder, { recursive: true, force: true })
})

async function keep(program: string, ended: (what: Ended) => void = () => {}) {
  const script = join(folder, 'program.mjs')
  await writeFile(script, program)
  kept = keepRunning({ script, env: childEnv(), logFile: join(folder, 'log'), guardian, ended })
  return kept
}

test('a program that ends unasked is started again, later each time, and how it ended is told', async () => {
  const ends: Ended[] = []
  await keep("console.log('began'); process.exit(3)", (what) => ends.push(what))
  await vi.waitFor(() => expect(ends.length).toBe(2), 10_000)
  expect(ends).toEqual([
    { how: 'exit code 3', againMs: 500, pid: expect.any(Number) },
    { how: 'exit code 3', againMs: 1000, pid: expect.any(Number) },
  ])
  expect(await readFile(join(folder, 'log'), 'utf8')).toBe('began\nbegan\n')
})

test('a program that is asked to stop is not started again', async () => {
  const ended = vi.fn()
  const program = await keep('setInterval(() => {}, 1e6)', ended)
  await program.stop(5_000)
  expect(program.pid()).toBeUndefined()
  expect(ended).not.toHaveBeenCalled()
})

test('a program that ignores SIGTERM is killed after its time', async () => {
  const program = await keep(
    "process.on('SIGTERM', () => {}); console.log('ready'); setInterval(() => {}, 1e6)",
  )
  await vi.waitFor(async () => expect(await readFile(join(folder, 'log'), 'utf8')).toBe('ready\n'), 10_000)
  const pid = program.pid()!
  await program.stop(100)
  expect(signal(pid, 0)).toBe(false)
})

test('when the guardian is let go, what it still watches ends', async () => {
  const program = await keep('setInterval(() => {}, 1e6)')
  const ended = new Promise((resolve) => {
    const pid = program.pid()!
    const timer = setInterval(() => {
      if (program.pid() === pid) return
      clearInterval(timer)
      resolve(pid)
    }, 20)
  })
  guardian.close()
  await ended
})
