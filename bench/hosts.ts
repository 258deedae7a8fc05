import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Cookies } from '../worker/cookies'
import { createFetcher } from '../worker/fetch/fetcher'
import { HostRobots } from '../worker/host-robots'

export interface HostsResult {
  hosts: number
  seconds: number
  /** Bytes after a collection, at each tenth of the way. */
  rss: number[]
  heap: number[]
}

/**
 * Fetches robots.txt and one page with a cookie from each of so many hosts, all of them this machine, with a worker's own fetcher,
 * robots.txt and cookies: what of a worker grows with the hosts it has met.
 */
export async function benchHosts({
  hosts,
  concurrency,
  say,
}: {
  hosts: number
  concurrency: number
  say: (line: string) => void
}): Promise<HostsResult> {
  const child = spawn(process.execPath, [process.argv[1]!, 'bench-hosts-site'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(child.stdout, 'data')
  const port = Number(line)
  const fetcher = createFetcher({
    userAgent: 'bench/1',
    connectTimeoutMs: 5_000,
    readTimeoutMs: 10_000,
    totalTimeoutMs: 15_000,
    maxBytes: 1_000_000,
    maxRedirects: 5,
    namesMs: 60_000,
    lookup: (_host, _options, done) => setImmediate(done, null, [{ address: '127.0.0.1', family: 4 }]),
  })
  const robots = new HostRobots(fetcher, 'bench/1')
  const cookies = new Cookies()
  // As `--expose-gc` would have it, so that the figures are of what is kept.
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const result: HostsResult = { hosts, seconds: 0, rss: [], heap: [] }
  const started = performance.now()
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < hosts) {
      const n = next++
      const url = `http://h${n}.example:${port}/`
      if (!(await robots.of(url, { allowPrivate: true })).allows(url))
        throw new Error(`${url} is not allowed`)
      const { status } = await fetcher.fetch(url, {
        allowPrivate: true,
        headers: {},
        cookies: cookies.of(1),
        signal: new AbortController().signal,
      })
      if (status !== 200) throw new Error(`${url} answers ${status}`)
      if ((n + 1) % Math.max(1, Math.floor(hosts / 10)) === 0) {
        gc()
        const { rss, heapUsed } = process.memoryUsage()
        result.rss.push(rss)
        result.heap.push(heapUsed)
        say(`${n + 1} hosts: ${mb(rss)} resident, ${mb(heapUsed)} of heap`)
      }
    }
  }
  try {
    await Promise.all(Array.from({ length: concurrency }, lane))
  } finally {
    await fetcher.close()
    child.kill('SIGKILL')
  }
  result.seconds = Math.round((performance.now() - started) / 1000)
  return result
}

/** The hosts, in a process of their own, so that the figures are the worker's alone. Writes its port on stdout. */
export async function serveHosts(): Promise<void> {
  const server = createServer(({ url }, response) => {
    if (url === '/robots.txt') return response.end('User-agent: *\nDisallow: /private\n')
    response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'seen=1; Path=/' })
    response.end('<title>x</title>')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
}

const mb = (bytes: number) => `${(bytes / 1_048_576).toFixed(0)} MB`
