import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { packageFile } from '../package-file'
import { signal } from './server'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orbweaver guardian-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

/** Runs `body` in a process of its own, where `start(script)` starts a Node program through a guardian. */
async function starter(body: string) {
  const outfile = join(folder, 'starter.mjs')
  await build({
    stdin: {
      contents: `import { openSync, writeSync } from 'node:fs'
        import { startGuardian } from './cli/stack/guardian'
        const guardian = startGuardian()
        const start = (script, program = process.execPath) =>
          guardian.start(program, ['-e', script], { env: {}, log: openSync(process.argv[2], 'a') })
        ${body}`,
      resolveDir: packageFile(''),
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
  })
  const log = join(folder, 'log')
  const child = spawn(process.execPath, [outfile, log], { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text
  })
  await once(child, 'close')
  return { printed, log: () => readFile(log, 'utf8') }
}

test('who dies at the very moment of a start leaves no process behind', async () => {
  const { printed } = await starter(`
    const { pid } = start('setInterval(() => {}, 1e6)')
    writeSync(1, String(pid))
    process.kill(process.pid, 'SIGKILL')`)
  const pid = Number(printed)
  expect(pid).toBeGreaterThan(1)
  await vi.waitFor(() => expect(signal(pid, 0)).toBe(false), 10_000)
})

test('a program that cannot be run ends with code 127, and its log says why', async () => {
  const { printed, log } = await starter(`
    start('', '/no/such/program').once('exit', (code) => {
      console.log(code)
      guardian.close()
    })`)
  expect(printed).toBe('127\n')
  expect(await log()).toContain('/no/such/program')
})
