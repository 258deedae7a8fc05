import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { childEnv, setEnv } from '../core/env'
import { type DemoServer, serveDemoSite } from '../examples/demo-site/serve'
import { handle } from '../server/api/v1/handle'
import { createKey } from '../server/services/api-keys'
import { CONSOLE, requestOf } from './console-services'
import { type CrawlRig, openRig } from './crawl-rig'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const CLIENT = join(root, 'examples/client/orbweaver.generated.ts')

let rig: CrawlRig
let demo: DemoServer
let server: Server
let address: string
let key: string
let folder: string

beforeAll(async () => {
  setEnv({ AUTH_SECRET: 'of-this-test-run-only-0123456789abcdef', PUBLIC_URL: CONSOLE })
  rig = await openRig()
  demo = await serveDemoSite()
  rig.workers(1)
  key = (await createKey(rig.services, { name: 'manual', role: 'operator' }, 'test')).key
  folder = await mkdtemp(join(tmpdir(), 'orbweaver-api-'))
  server = await serveApi()
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}, 120_000)
afterAll(async () => {
  server?.close()
  await demo?.close()
  await rig?.close()
  if (folder) await rm(folder, { recursive: true })
})

/** `/api/v1` over HTTP, as the console serves it. */
async function serveApi(): Promise<Server> {
  const serving = createServer(async (incoming, outgoing) => {
    const { url, method, headers } = incoming as IncomingMessage & { url: string }
    if (url === '/api/v1/typescript') return outgoing.end(await readFile(CLIENT))
    const body = await buffer(incoming)
    const response = await handle(
      new Request(new URL(url, CONSOLE), {
        method: method!,
        headers: headers as Record<string, string>,
        ...(body.length > 0 && { body }),
      }),
      async () => requestOf(rig.services, null),
    )
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    outgoing.end(Buffer.from(await response.arrayBuffer()))
  })
  serving.listen(0, '127.0.0.1')
  await once(serving, 'listening')
  return serving
}

/** What a page of documentation says is to be typed, in this order, for what runs here. */
async function examples(page: string, language: string): Promise<string[]> {
  const text = await readFile(join(root, page), 'utf8')
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, kind]) => kind === language)
    .map(([, , code]) =>
      code!.replaceAll('http://127.0.0.1:3080', demo.site.origin).replaceAll('crawl_queue', rig.queue),
    )
}

const env = () => childEnv({ ORBWEAVER: address, KEY: key })

test('the commands, the Python and the TypeScript of docs/api.md do what they say, and both languages show the same', async () => {
  for (const language of ['sh', 'python', 'ts'])
    expect(await examples('docs/api.zh-CN.md', language)).toEqual(await examples('docs/api.md', language))

  const commands = (await examples('docs/api.md', 'sh')).filter((code) => code.startsWith('curl'))
  expect(commands).toHaveLength(6)
  const answers: string[] = []
  for (const command of commands) {
    const script = command
      .replaceAll('examples/', join(root, 'examples/'))
      // Runs of a rig have its queue, and not the one of an installation.
      .replace('{"spider": "prices"}', `{"spider": "prices", "queue": "${rig.queue}"}`)
    const { stdout } = await run('bash', ['-euc', script], { cwd: folder, env: env() })
    answers.push(stdout)
    if (script.includes('/api/v1/runs"')) await rig.ended(1)
  }
  expect(JSON.parse(answers[0]!)).toMatchObject({ name: 'prices', version: 1 })
  expect(JSON.parse(answers[1]!)).toMatchObject({ added: 1, refused: [{ at: 1 }] })
  expect(JSON.parse(answers[2]!)).toMatchObject({ id: 1, spider: 'prices' })
  expect(JSON.parse(answers[3]!)).toMatchObject({ id: 1, state: 'finished' })
  const products = await readFile(join(folder, 'products.csv'), 'utf8')
  expect(products.split('\n').length).toBeGreaterThan(10)
  expect(JSON.parse(answers[4]!).verdicts.map(({ verdict }: { verdict: string }) => verdict)).toEqual([
    'queued',
    'queued',
    'refused',
  ])

  const [python] = await examples('docs/api.md', 'python')
  const [typescript] = await examples('docs/api.md', 'ts')
  const queued = (code: string) =>
    code
      .replace('{"spider": "prices"}', `{"spider": "prices", "queue": "${rig.queue}"}`)
      .replace("{ spider: 'prices' }", `{ spider: 'prices', queue: '${rig.queue}' }`)
  const [fromPython, fromTypeScript] = await Promise.all([
    run('python3', ['-c', queued(python!)], { env: env() }),
    runTypeScript(queued(typescript!)),
  ])
  const names = products
    .trim()
    .split(/\r?\n/)
    .slice(1)
    .map((line) => line.split(',')[1]!)
  for (const { stdout } of [fromPython, fromTypeScript])
    for (const name of names) expect(stdout).toContain(name.replaceAll('"', ''))
  expect(fromPython.stdout).toMatch(/^finished \d+ pages$/m)
  expect(fromTypeScript.stdout).toMatch(/verdict: 'queued'[\s\S]*verdict: 'refused'/)
  expect(fromTypeScript.stdout).toMatch(/^404 There is no spider/m)
}, 180_000)

async function runTypeScript(code: string) {
  await copyFile(CLIENT, join(folder, 'orbweaver.ts'))
  await writeFile(join(folder, 'package.json'), '{"type": "module"}')
  await writeFile(join(folder, 'main.ts'), code)
  // Elsewhere the compiler would ask for the configuration of this project.
  await run(
    join(root, 'node_modules/.bin/tsc'),
    [
      ...['--noEmit', '--strict', '--skipLibCheck', '--allowImportingTsExtensions'],
      ...['--target', 'esnext', '--module', 'nodenext', '--types', 'node'],
      ...['--typeRoots', join(root, 'node_modules/@types'), 'main.ts'],
    ],
    { cwd: folder },
  )
  const outfile = join(folder, 'main.mjs')
  await build({
    entryPoints: [join(folder, 'main.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
  })
  return run(process.execPath, [outfile], { env: env() })
}
