import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { childEnv, setEnv } from './env'
import { noteProgress } from './sign-of-life'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orbweaver-health-'))
  setEnv({ HEALTH_FILE: join(folder, 'progress') })
})
afterEach(async () => {
  setEnv({ HEALTH_FILE: '' })
  await rm(folder, { recursive: true })
})

/** The check of the images, run as they run it. */
async function healthy(): Promise<boolean> {
  const command = /HEALTHCHECK .*CMD (.*)/.exec(await readFile('Dockerfile.worker', 'utf8'))![1]!
  try {
    execFileSync('sh', ['-c', command], { env: childEnv(), stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

test('a process is healthy for 20 s after its last progress, and not before its first', async () => {
  expect(await healthy()).toBe(false)
  await noteProgress(Date.now() - 15_000)
  expect(await healthy()).toBe(true)
  await noteProgress(Date.now() - 21_000)
  expect(await healthy()).toBe(false)
})

test('without HEALTH_FILE nothing is written', async () => {
  setEnv({ HEALTH_FILE: '' })
  await noteProgress(Date.now())
  expect(await readdir(folder)).toEqual([])
})
