import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

/** What the documents say of the tree, held against the tree. */
const root = join(import.meta.dirname, '..')
const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => file && existsSync(join(root, file)))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const documents = files.filter((file) => file.endsWith('.md'))

/** All matches of a pattern's first group over the documents, as `file: match`. */
function mentioned(pattern: RegExp): { file: string; text: string }[] {
  return documents.flatMap((file) =>
    [...read(file).matchAll(pattern)].map((match) => ({ file, text: match[1]! })),
  )
}

test('every message that troubleshooting explains is said somewhere in the code', () => {
  const source = files
    .filter((file) => /\.(tsx?|mjs)$/.test(file) && !/\.test\.|^tests\/|\.generated\./.test(file))
    .map(read)
    .join('\n')
  const messages = [...read('docs/troubleshooting.md').matchAll(/^### .*$/gm)].flatMap(([heading]) =>
    [...heading.matchAll(/`([^`]+)`/g)].map((match) => match[1]!),
  )
  const pieces = messages.flatMap((message) => message.split('…').map((piece) => piece.trim()))
  expect(messages.length).toBeGreaterThan(20)
  // Command names and single words stand in headings too; of those nothing can be said.
  const unsaid = pieces.filter((piece) => piece.length > 3 && !/^npm /.test(piece) && !source.includes(piece))
  expect(unsaid).toEqual([])
})

test('every link between documents leads somewhere', () => {
  const broken = mentioned(/\]\((?!https?:|#|mailto:)([^)#]+)(?:#[^)]*)?\)/g).filter(
    ({ file, text }) => !existsSync(join(root, dirname(file), text)),
  )
  expect(broken).toEqual([])
})

test('every npm command that the documents name exists', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const unknown = mentioned(/npm run ([\w:-]+)/g).filter(({ text }) => !scripts[text])
  expect(unknown).toEqual([])
})

test('every file and folder that the documents name exists', () => {
  const missing = mentioned(
    /`((?:app|bench|cli|core|docs|drizzle|examples|server|tests|worker)\/[\w./-]*)`/g,
  ).filter(({ text }) => !existsSync(join(root, text)))
  expect(missing).toEqual([])
})
