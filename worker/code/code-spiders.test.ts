import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { setEnv } from '../../core/env'
import { CodeSpiders } from './code-spiders'
import { CodeFailure, CodeUnusable } from './code-thread'
import type { PageInput } from './messages'

let folder: string
let printed: string[] = []
let code: CodeSpiders
const program = new URL('../../dist/code-thread.js', import.meta.url)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orbweaver-code-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))
beforeEach(() => {
  printed = []
  code = new CodeSpiders({ folder, timeoutMs: 700, program, print: (line) => printed.push(line) })
})
afterEach(() => code.close())

/** A file whose function `parse` has this body. */
const put = (name: string, body: string, before = '') =>
  writeFile(
    join(folder, `${name}.ts`),
    `import { defineSpider } from 'orbweaver'\n${before}\nexport default defineSpider({ name: '${name}', parse(page) {\n${body}\n} })`,
  )

const page = (more: Partial<PageInput> = {}): PageInput => ({
  url: 'https://h.example/a/',
  requested: 'https://h.example/a',
  status: 200,
  headers: { 'content-type': 'text/html' },
  contentType: 'text/html',
  text: '<base href="/b/"><h1>Title</h1><a class="next" href="2?x=1&amp;y=2#f">on</a>',
  depth: 1,
  referrer: null,
  meta: '{"label":"list"}',
  title: 'T',
  links: ['https://h.example/l'],
  items: [],
  ...more,
})

/** How a page ends. */
const outcome = (name: string, input = page()) =>
  code.parse(name, input).then(
    (taken) => taken,
    (error: Error) => error,
  )

test('code takes items, follows links by the page’s base, and asks for URLs with a priority and notes of its own', async () => {
  await put(
    'whole',
    `const part: string = page.$('h1').text()
     page.item('page', { part, meta: page.meta, status: page.status, links: page.links, nul: 'a\\0b\\uD800' } as Record<string, unknown>)
     page.follow(page.$('.next').attr('href'), undefined, 'mailto:a@b.example', null)
     page.request('/json', { priority: 7, meta: { label: 'detail' } })
     page.request('https://other.example/')`,
  )
  expect(await code.parse('whole', page())).toEqual({
    items: [
      {
        name: 'page',
        data: {
          part: 'Title',
          meta: { label: 'list' },
          status: 200,
          links: ['https://h.example/l'],
          nul: 'ab\uFFFD',
        },
      },
    ],
    follow: ['https://h.example/b/2?x=1&y=2#f'],
    requests: [
      { url: 'https://h.example/json', priority: 7, meta: '{"label":"detail"}' },
      { url: 'https://other.example/', priority: null, meta: null },
    ],
  })
})

test('JSON and XML are read as what they are, and files of the folder can be imported', async () => {
  await mkdir(join(folder, 'lib'), { recursive: true })
  await writeFile(join(folder, 'lib/price.ts'), 'export const cents = (price: number): number => price * 100')
  await put(
    'kinds',
    `if (page.contentType === 'application/json') page.item('json', { cents: cents((page.json() as { price: number }).price) })
     else page.item('xml', { link: page.$('link').text() })`,
    "import { cents } from './lib/price.ts'",
  )
  const json = await code.parse('kinds', page({ contentType: 'application/json', text: '{"price": 3}' }))
  const xml = await code.parse('kinds', page({ contentType: 'text/xml', text: '<a><link>x</link></a>' }))
  expect([...json.items, ...xml.items].map(({ data }) => data)).toEqual([{ cents: 300 }, { link: 'x' }])
})

test('whatever the code does, its page has an outcome that says what and where, and the next page is read', async () => {
  await put('throws', "\nthrow new Error('no price')")
  await put('async', "return Promise.reject(new TypeError('later'))")
  await put('loose', "void Promise.reject(new Error('nobody waits')); return new Promise(() => {})")
  await put('exits', 'process.exit(0)')
  await put('endless', 'for (;;) {}')
  await put('sleeps', 'return new Promise(() => {})')
  await put('greedy', 'const all = []; for (;;) all.push(new Array(1e6).fill(all.length))')
  await put('circular', "const data: Record<string, unknown> = {}; data.self = data; page.item('a', data)")
  await put('named', "page.item('no name', {})")
  await put('nothing', "page.item('a', undefined as never)")
  await put('asks', "page.request('mailto:a@b.example')")
  await put('huge', "page.item('a', { text: 'x'.repeat(5e6) })")
  await put('many', "for (let n = 0; n < 200_000; n++) page.follow('/' + n)")
  await put('fine', "page.item('a', {})")
  const expected: Record<string, [string, RegExp]> = {
    throws: ['code_error', /^no price \(throws\.ts, line 5\)$/],
    async: ['code_error', /^TypeError: later/],
    loose: ['code_error', /nobody waits/],
    exits: ['code_error', /ended its thread/],
    endless: ['code_timeout', /longer than 0\.7 s/],
    sleeps: ['code_timeout', /longer than 0\.7 s/],
    greedy: ['code_error', /256 MB/],
    circular: ['code_error', /item "a" cannot be written as JSON.*circular\.ts, line 4/],
    named: ['code_error', /"no name".*named\.ts, line 4/],
    nothing: ['code_error', /give an object/],
    asks: ['code_error', /mailto:a@b\.example" is no http/],
    huge: ['code_error', /4 million/],
    many: ['code_error', /100,000/],
  }
  code.close()
  code = new CodeSpiders({ folder, timeoutMs: 700, program, print: () => {} })
  for (const [name, [reason, words]] of Object.entries(expected)) {
    // The one that fills its memory needs time for that.
    if (name === 'greedy') {
      code.close()
      code = new CodeSpiders({ folder, timeoutMs: 30_000, program, print: () => {} })
    }
    const error = await outcome(name)
    expect(error, name).toBeInstanceOf(CodeFailure)
    expect({ reason: (error as CodeFailure).reason, message: (error as Error).message }, name).toEqual({
      reason,
      message: expect.stringMatching(words),
    })
    expect(await outcome('fine'), `after ${name}`).toMatchObject({ items: [{ name: 'a', data: {} }] })
  }
})

test('code that never ends holds up no other spider, and pages that wait for a thread lose none of their time', async () => {
  await put('endless', 'for (;;) {}')
  await put('slow', "return new Promise((done) => setTimeout(done, 400)).then(() => page.item('a', {}))")
  const results = await Promise.all([
    outcome('endless'),
    ...Array.from({ length: 8 }, () => outcome('slow')),
    outcome('endless'),
  ])
  expect(
    results.map((result) => (result instanceof Error ? (result as CodeFailure).reason : 'taken')),
  ).toEqual(['code_timeout', ...Array.from({ length: 8 }, () => 'taken'), 'code_timeout'])
})

test('a changed file counts from the next page on, what it imports included', async () => {
  await writeFile(join(folder, 'part.ts'), 'export const part = 1')
  await put('changes', "page.item('a', { part })", "import { part } from './part.ts'")
  expect((await code.parse('changes', page())).items[0]!.data).toEqual({ part: 1 })
  await writeFile(join(folder, 'part.ts'), 'export const part = 1 + 1')
  await expect
    .poll(async () => (await code.parse('changes', page())).items[0]!.data, { timeout: 5_000 })
    .toEqual({ part: 2 })
})

test('what cannot be loaded is no page’s fault: its file and its line are named', async () => {
  await writeFile(join(folder, 'broken.ts'), 'const a = 1\nconst a: = 2')
  await writeFile(join(folder, 'empty.ts'), 'export const spider = 1')
  await writeFile(join(folder, 'lost.ts'), "import './nowhere.ts'\nexport default { parse() {} }")
  await writeFile(join(folder, 'hangs.ts'), 'process.exit(3)')
  for (const [name, words] of [
    ['absent', /no file absent\.ts in .*SPIDERS_DIR/],
    ['broken', /^The spider’s code cannot be loaded: SyntaxError: .*broken\.ts/],
    ['empty', /export default defineSpider/],
    ['lost', /nowhere\.ts/],
    ['hangs', /ended its thread/],
  ] as const) {
    const error = await outcome(name)
    expect(error, name).toBeInstanceOf(CodeUnusable)
    expect((error as Error).message, name).toMatch(words)
  }
})

test('code sees none of the worker’s environment, and what it prints is handed on', async () => {
  setEnv({ ORBWEAVER_TEST_SECRET: 'secret' })
  await put(
    'looks',
    "console.log('looking'); const { env } = process; page.item('a', { env: Object.keys(env) })",
  )
  expect((await code.parse('looks', page())).items[0]!.data).toEqual({ env: [] })
  await expect.poll(() => printed, { timeout: 10_000 }).toContain('looking')
})
