import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packageFile } from '../cli/package-file'
import { ENGINE_TURN_MS, engineTurn } from './engine-turn'
import { until } from './until'

/** The images and compose.yaml on a real engine, where there is one: each test goes on with the stack of those before it. */
const exec = promisify(execFile)
const PAGES = 200
const project = `orbweaver-test-${process.pid}`
let folder: string
let environment: NodeJS.ProcessEnv
let endTurn: (() => Promise<void>) | undefined

async function docker(...args: string[]): Promise<string> {
  const { stdout } = await exec('docker', args, {
    cwd: packageFile(''),
    env: environment,
    maxBuffer: 64 * 1024 * 1024,
  })
  return stdout.trim()
}
const compose = (...args: string[]) =>
  docker(
    'compose',
    '--project-name',
    project,
    '--env-file',
    join(folder, '.env'),
    '-f',
    'compose.yaml',
    '-f',
    join(folder, 'test.yaml'),
    ...args,
  )
const containers = async (service: string) =>
  (await compose('ps', '-q', service)).split('\n').filter((id) => id !== '')

async function rows(sql: string): Promise<string[]> {
  const text = await compose(
    'exec',
    '-T',
    'mysql',
    'sh',
    '-c',
    'MYSQL_PWD=$MYSQL_PASSWORD mysql -N --protocol=tcp -h 127.0.0.1 -u $MYSQL_USER $MYSQL_DATABASE -e "$0"',
    sql,
  )
  return text.split('\n').filter((line) => line !== '')
}

/** Page i links to 3i+1 … 3i+3; a slow answer keeps pages under way while faults are made. */
const SITE = `const asked = []
require('node:http').createServer((q, a) => {
  if (q.url === '/asked') return a.end(JSON.stringify(asked))
  asked.push(q.url)
  const n = Number(/^\\/([\\w-]+)\\/(\\d+)$/.exec(q.url)?.[2] ?? -1), tree = q.url.split('/')[1]
  if (!(n >= 0 && n < ${PAGES})) return a.writeHead(404).end()
  const html = (text) => a.writeHead(200, { 'content-type': 'text/html' }).end('<title>' + n + '</title>' + text)
  if (tree === 'big') return html('<p>text</p>'.repeat(800_000))
  const links = [3*n+1, 3*n+2, 3*n+3, Math.floor((n-1)/3)].filter((m) => m >= 0 && m < ${PAGES})
  setTimeout(html, 300, links.map((m) => '<a href="/' + tree + '/' + m + '">x</a>').join(''))
}).listen(80)`
const ASK = "fetch('http://127.0.0.1/asked').then((a) => a.text()).then(console.log)"

/** Crawls a tree of the site by way of the inbox, makes its faults meanwhile, and expects each page once and no other. */
async function crawlExactly(tree: string, faults: () => Promise<void> = async () => {}): Promise<void> {
  await until('the inbox takes a URL', 60, () =>
    compose('exec', '-T', 'redis', 'redis-cli', 'RPUSH', 'crawl_queue', `http://site/${tree}/0`),
  )
  const stored = () => rows(`SELECT url FROM pages WHERE state = 'done' AND url LIKE 'http://site/${tree}/%'`)
  await until('the first pages', 90, async () => (await stored()).length > 20)
  await faults()
  const urls = await until('the last pages', 150, async () => {
    const all = await stored()
    return all.length >= PAGES && all
  })
  expect(urls.toSorted()).toEqual(
    Array.from({ length: PAGES }, (_, n) => `http://site/${tree}/${n}`).toSorted(),
  )
  const open = await rows(
    `SELECT url, state FROM pages WHERE state <> 'done' AND url LIKE 'http://site/${tree}/%'`,
  )
  expect(open).toEqual([])
}

const engine = await exec('docker', ['info'], { timeout: 20_000 }).then(
  () => exec('docker', ['compose', 'version']).then(() => ''),
  (error: Error) => `no Docker engine answers (${error.message.split('\n')[0]})`,
)

describe('on a Docker engine', () => {
  beforeAll(async () => {
    if (engine) return
    endTurn = await engineTurn()
    folder = await mkdtemp(join(tmpdir(), 'orbweaver-containers-'))
    const { stdout } = await exec('sh', ['-c', 'ulimit -Hn'])
    environment = {
      ...process.env,
      NOFILE: String(Math.min(65_535, Number(stdout) || 65_535)),
      HTTP_PORT: String(20_000 + (process.pid % 20_000)),
      ALLOW_PRIVATE: 'true',
      DOWNLOAD_DELAY: '0',
      LEASE_SECONDS: '6',
      DRAIN_SECONDS: '5',
      WORKER_GRACE: '12s',
      // A busy test machine needs longer than 90 s to make a database.
      STARTUP_SECONDS: '240',
    }
    await exec(process.execPath, [packageFile('cli/init.mjs'), folder])
    await writeFile(
      join(folder, 'test.yaml'),
      `services:
  # The engine's host may be small; MySQL comes 10 s after everything else, and nothing waits for it but the programs.
  mysql:
    entrypoint: [sh, -c, 'sleep 10; exec docker-entrypoint.sh "$$0" "$$@"']
  migrate:
    depends_on: !reset {}
  web:
    depends_on: !override { migrate: { condition: service_completed_successfully } }
  scheduler:
    depends_on: !reset {}
    environment: { REAP_SECONDS: '1' }
  worker:
    depends_on: !reset {}
  scaler:
    depends_on: !reset {}
  site:
    image: node:24-bookworm-slim
    init: true
    command: ['node', '-e', ${JSON.stringify(SITE).replaceAll('$', '$$$$')}]
`,
    )
  }, ENGINE_TURN_MS)
  afterAll(async () => {
    if (engine || !folder) return
    await compose('down', '--volumes', '--timeout', '5').catch(() => {})
    await rm(folder, { recursive: true, force: true })
    await endTurn?.()
  }, 120_000)

  test('all images build; worker, scheduler and scaler stay under 60 MB above their base and hold no secret', async (context) => {
    if (engine) context.skip(engine)
    await compose('build')
    const size = async (image: string) => Number(await docker('image', 'inspect', '-f', '{{.Size}}', image))
    const base = await size('node:24-bookworm-slim')
    const secrets = (await readFile(join(folder, '.env'), 'utf8')).match(/[0-9a-f]{64}/g)!
    for (const image of ['orbweaver-worker', 'orbweaver-scheduler', 'orbweaver-scaler', 'orbweaver-web']) {
      const above = (await size(image)) - base
      console.info(`${image}: ${(above / 1e6).toFixed(1)} MB above the base`)
      if (image !== 'orbweaver-web') expect(above).toBeLessThan(60e6)
      const told = (await docker('history', '--no-trunc', image)) + (await docker('image', 'inspect', image))
      expect(secrets.filter((secret) => told.includes(secret))).toEqual([])
      expect(await docker('image', 'inspect', '-f', '{{.Config.User}}', image)).toBe('node')
    }
  }, 600_000)

  test('from nothing, with a database that comes 10 s late, everything becomes healthy without one restart', async (context) => {
    if (engine) context.skip(engine)
    await compose('up', '-d', '--wait', '--wait-timeout', '280')
    const ids = (await compose('ps', '-q')).split('\n')
    const restarts = await docker('inspect', '-f', '{{.Name}} {{.RestartCount}}', ...ids)
    expect(restarts.split('\n').filter((line) => !line.endsWith(' 0'))).toEqual([])
    const waited = await compose('logs', 'worker')
    expect(waited).toMatch(/Waiting for a server/)
    const link = await compose('exec', '-T', 'scheduler', 'orbweaver', 'sign-in-link')
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/welcome\?token=[\w-]+$/)
    expect((await fetch(link)).status).toBe(200)
    const findings = await compose('exec', '-T', 'scheduler', 'orbweaver', 'doctor')
    expect(findings.split('\n').filter((line) => /^fail/.test(line))).toEqual([])
  }, 320_000)

  test('programs run as an ordinary user on a read-only file system, and Redis and MySQL are not published', async (context) => {
    if (engine) context.skip(engine)
    for (const service of ['web', 'scheduler', 'worker', 'scaler']) {
      const [id] = await containers(service)
      expect(await docker('exec', id!, 'id', '-u')).toBe('1000')
      await expect(docker('exec', id!, 'touch', '/app/x')).rejects.toThrow(/[Rr]ead-only/)
    }
    for (const service of ['redis', 'mysql'])
      expect(await docker('port', (await containers(service))[0]!)).toBe('')
  })

  test('three workers crawl a site on the network, exact to the page', async (context) => {
    if (engine) context.skip(engine)
    await compose('up', '-d', '--wait', '--scale', 'worker=3', '--no-recreate')
    expect(await containers('worker')).toHaveLength(3)
    await crawlExactly('calm')
    const ends = await rows("SELECT COUNT(DISTINCT worker_id) FROM worker_events WHERE kind = 'start'")
    expect(ends).toEqual(['3'])
  }, 240_000)

  test('asked for 1, then 6, then 2 workers in the middle of a crawl, the scaler has them: nothing lost, nothing twice, Compose still in control', async (context) => {
    if (engine) context.skip(engine)
    const ask = async (wanted: number) => {
      await rows(
        `INSERT INTO scale_requests (queue, kind, previous, wanted, state, author, created_at) VALUES ('crawl_queue', 'http', 0, ${wanted}, 'waiting', 'test', UTC_TIMESTAMP(3))`,
      )
      const ended = 'SELECT state, detail FROM scale_requests ORDER BY id DESC LIMIT 1'
      const [told] = await until(`${wanted} workers`, 60, async () => {
        const now = await rows(ended)
        return !/^(waiting|running)/.test(now[0]!) && now
      })
      return told
    }
    const counted = (n: number) =>
      until(`Compose counts ${n} workers`, 60, async () => (await containers('worker')).length === n)
    expect(await ask(1)).toBe('done\t2 told to drain')
    await counted(1)
    await crawlExactly('scaled', async () => {
      expect(await ask(6)).toBe('done\t5 started')
      await counted(6)
      await until('all six work', 60, async () => {
        const [alive] = await rows("SELECT COUNT(*) FROM workers WHERE state = 'running'")
        return alive === '6'
      })
      expect(await ask(2)).toBe('done\t4 told to drain')
      await counted(2)
    })
    const asked = JSON.parse(await compose('exec', '-T', 'site', 'node', '-e', ASK)) as string[]
    expect(asked.filter((path) => path.startsWith('/scaled/')).toSorted()).toEqual(
      Array.from({ length: PAGES }, (_, n) => `/scaled/${n}`).toSorted(),
    )
    const before = await containers('worker')
    await compose('up', '-d', '--wait', '--scale', 'worker=2')
    expect((await containers('worker')).toSorted()).toEqual(before.toSorted())
  }, 240_000)

  test('a worker that exceeds its memory is told as out of memory with its limit, and none of its pages is lost', async (context) => {
    if (engine) context.skip(engine)
    await compose('up', '-d', '--wait', '--scale', 'worker=1', '--no-recreate')
    const [id] = await containers('worker')
    const limit = (size: string) => docker('update', '--memory', size, '--memory-swap', size, id!)
    await limit('200m')
    // Many, since of a few each may be let go of before the next is read.
    const big = Array.from({ length: 48 }, (_, n) => `http://site/big/${n}`)
    await compose('exec', '-T', 'redis', 'redis-cli', 'RPUSH', 'crawl_queue', ...big)
    const [event] = await until('the event', 90, async () => {
      const told = await rows("SELECT kind, detail FROM worker_events WHERE kind = 'oom'")
      return told.length > 0 && told
    })
    expect(event).toMatch(/^oom\tout of memory \(limit 200 MiB\)/)
    await until('the limit is raised', 60, () => limit('768m').then(() => true))
    const stored = () => rows("SELECT url, state FROM pages WHERE url LIKE 'http://site/big/%' ORDER BY url")
    expect(
      await until(
        'the big pages',
        120,
        async () => (await stored()).length === big.length && (await stored()),
      ),
    ).toEqual(big.toSorted().map((url) => `${url}\tdone`))
    await compose('up', '-d', '--wait', '--scale', 'worker=3', '--no-recreate')
  }, 320_000)

  test.for(['worker', 'redis', 'mysql'])(
    'a killed %s in the middle of a crawl costs no page and doubles none',
    { timeout: 240_000 },
    async (service, context) => {
      if (engine) context.skip(engine)
      await crawlExactly(`kill-${service}`, async () => {
        const [id] = await containers(service)
        await docker('kill', id!)
        // As after a crash; `docker kill` counts as a wish to stop, after which the restart policy does nothing.
        await docker('start', id!)
      })
    },
  )

  test('docker stop lets a worker end what it holds: exit code 0 within its grace time, no page lost', async (context) => {
    if (engine) context.skip(engine)
    await crawlExactly('stopped', async () => {
      const [id] = await containers('worker')
      const began = performance.now()
      await docker('stop', id!)
      expect(performance.now() - began).toBeLessThan(12_000)
      expect(await docker('inspect', '-f', '{{.State.ExitCode}}', id!)).toBe('0')
      await docker('start', id!)
    })
  }, 240_000)

  test('two schedulers fire each time once and leave none out, also when the one that leads is frozen past its lease and goes on', async (context) => {
    if (engine) context.skip(engine)
    await compose('up', '-d', '--wait', '--scale', 'scheduler=2', '--no-recreate')
    const leader = async () => {
      const [holder] = await rows("SELECT holder FROM leases WHERE name = 'scheduler'")
      return (await containers('scheduler')).find((id) => holder!.includes(id.slice(0, 12)))
    }
    await rows(
      "INSERT INTO seeds (spider_id, url, url_hash, created_at) SELECT id, 'http://site/none', UNHEX(SHA2('http://site/none', 256)), UTC_TIMESTAMP(3) FROM spiders ORDER BY id LIMIT 1",
    )
    await rows(
      `INSERT INTO schedules (spider_id, queue, name, cron, zone, overlap, missed, enabled, decided_until, created_at, updated_at)
         SELECT id, 'crawl_queue', 'often', '*/2 * * * * *', 'UTC', 'parallel', 'all', 1, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) FROM spiders ORDER BY id LIMIT 1`,
    )
    const fires = () =>
      rows(
        'SELECT UNIX_TIMESTAMP(fire_at), kind, (SELECT COUNT(*) FROM runs WHERE runs.schedule_id = fires.schedule_id AND runs.fire_at = fires.fire_at) FROM fires ORDER BY fire_at',
      )
    await until('the first fires', 30, async () => (await fires()).length > 2)
    const first = await until('a leader', 20, leader)
    await docker('pause', first)
    await until('the other leads', 40, async () => (await leader()) !== first)
    await docker('unpause', first)
    const then = (await fires()).length
    await until('more fires', 30, async () => (await fires()).length > then + 2)
    await rows("UPDATE schedules SET enabled = 0 WHERE name = 'often'")
    const told = (await fires()).map((line) => line.split('\t'))
    const from = Number(told[0]![0])
    expect(told).toEqual(told.map(() => [expect.any(String), 'fired', '1']))
    expect(told.map(([at]) => Number(at) - from)).toEqual(told.map((_, n) => n * 2))
  }, 200_000)
})
