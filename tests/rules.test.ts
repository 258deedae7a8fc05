import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'

/** Rules of the tree that no other tool knows. Which folder may import which is in .dependency-cruiser.cjs. */
const root = join(import.meta.dirname, '..')
/** What is not part of the tree: made by tools, or a person's own. */
const NOT_OURS = /^(\.git|node_modules|dist|\.next|\.orbweaver|\.env|next-env\.d\.ts|.*\.(log|tsbuildinfo))$/
const files = readdirSync(root, { withFileTypes: true })
  .filter((entry) => !NOT_OURS.test(entry.name))
  .flatMap((entry) =>
    entry.isDirectory()
      ? readdirSync(join(root, entry.name), { recursive: true, withFileTypes: true })
          .filter((below) => below.isFile())
          .map((below) => relative(root, join(below.parentPath, below.name)))
      : [entry.name],
  )
const source = files.filter((file) => /\.(tsx?|m?js|mts|cjs)$/.test(file) && !/\.generated\./.test(file))
const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** `file:line` of every line of code that matches, outside of `allowed`. Comment lines don't count. */
function lines(pattern: RegExp, among: string[], allowed: RegExp): string[] {
  return among
    .filter((file) => !allowed.test(file) && file !== 'tests/rules.test.ts')
    .flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line, n) =>
          pattern.test(line) && !/^\s*(\/\/|\*|\/\*)/.test(line) ? [`${file}:${n + 1}`] : [],
        ),
    )
}

test('the environment is read in core/env.ts alone, so that one table tells everything', () => {
  // start.mjs runs before that table can be loaded; it only looks for npm and settles STATE_DIR. Tests set faults.
  expect(lines(/\bprocess\.env\b/, source, /^(core\/env\.ts$|cli\/start\.mjs$|tests\/)/)).toEqual([])
})

test('Redis is connected to in core/redis.ts alone, where the client is made safe', () => {
  expect(lines(/\bnew (Redis|IORedis)\b/, source, /^core\/redis\.ts$/)).toEqual([])
})

test('scripts are run on Redis by core/queue/ alone', () => {
  expect(
    lines(/\.(eval|evalsha|evalSha|script|defineCommand|fcall)\(/i, source, /^core\/queue\/|\.test\.ts$/),
  ).toEqual([])
})

test('nothing is evaluated from text', () => {
  expect(lines(/(?<![.\w])eval\(|new Function\(/, source, /^$/)).toEqual([])
})

test('no test keeps the others from running', () => {
  const tests = source.filter((file) => /\.test\.tsx?$/.test(file))
  expect(lines(/\b(test|it|describe|suite)\.only\(|\bfdescribe\(|\bfit\(/, tests, /^$/)).toEqual([])
})

test('no file is longer than 500 lines', () => {
  const long = source.filter((file) => read(file).split('\n').length > 501)
  expect(long).toEqual([])
})

test('a file is named after its subject: no utils, no helpers, no barrels', () => {
  const dump = /(^|\/)(utils?|helpers?|common|misc|types|constants|index)(\.\w+)*(\/|$)/
  expect(files.filter((file) => dump.test(file))).toEqual([])
})

test('folders at the top are those of the design', () => {
  const known = 'app server worker drizzle core cli tests docs bench deploy examples messages public'.split(
    ' ',
  )
  const folders = new Set(files.filter((file) => file.includes('/')).map((file) => file.split('/')[0]!))
  expect([...folders].filter((folder) => !folder.startsWith('.') && !known.includes(folder))).toEqual([])
})
