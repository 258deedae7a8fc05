import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setEnv } from '../../core/env'
import { readSinks } from './read-sinks'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orbweaver-sinks-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function read(text: string) {
  const file = join(folder, 'sinks.yaml')
  await writeFile(file, text)
  setEnv({ SINKS_FILE: file, SINK_TEST_SECRET: 'from the environment' })
  return readSinks()
}

test('without SINKS_FILE there are no sinks', async () => {
  setEnv({ SINKS_FILE: '' })
  expect(await readSinks()).toEqual(new Map())
})

test('a secret may stand in the environment, and what is left out has its default', async () => {
  const sinks = await read(`
sinks:
  ours: { kind: webhook, url: https://a.test/hook, secret: "\${SINK_TEST_SECRET}" }
  files: { kind: jsonl, folder: /data }
`)
  expect([...sinks]).toEqual([
    [
      'ours',
      {
        kind: 'webhook',
        url: 'https://a.test/hook',
        secret: 'from the environment',
        items: 100,
        seconds: 0,
        allowPrivate: false,
      },
    ],
    ['files', { kind: 'jsonl', folder: '/data', rotate: 'day' }],
  ])
})

test.each([
  ['sinks: [', /cannot be used: .*flow/i],
  ['sinks: { a: { kind: fax } }', /sinks\.a\.kind/],
  ['sinks: { a: { kind: jsonl } }', /sinks\.a\.folder/],
  ['sinks: { a: { kind: jsonl, folder: x, more: 1 } }', /sinks\.a: .*more/],
  ['sinks: { "a b": { kind: jsonl, folder: x } }', /sinks\.a b/],
  ['sinks: { a: { kind: webhook, url: "ftp://a.test/", secret: 0123456789abcdef } }', /sinks\.a\.url/],
  ['sinks: { a: { kind: webhook, url: "https://a.test/", secret: short } }', /sinks\.a\.secret/],
  ['sinks: { a: { kind: jsonl, folder: "${SINK_TEST_NONE}" } }', /environment has no SINK_TEST_NONE; set it/],
])('%s is refused with the file, the place and what is wrong there', async (text, why) => {
  const refused = read(text)
  await expect(refused).rejects.toThrow(/^The sinks of .*sinks\.yaml \(SINKS_FILE\) cannot be used: /)
  await expect(refused).rejects.toThrow(why)
})

test('a file that is not there is named', async () => {
  setEnv({ SINKS_FILE: join(folder, 'none.yaml') })
  await expect(readSinks()).rejects.toThrow(/none\.yaml \(SINKS_FILE\) cannot be used: ENOENT/)
})
