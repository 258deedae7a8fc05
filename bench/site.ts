import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../cli/stack/ports'
import { childEnv } from '../core/env'
import { UserError } from '../core/errors'

export interface BenchSite {
  /** The page that all others can be reached from. */
  url: string
  description: string
  stop(): Promise<void>
}

const PARAGRAPH = `<p class="text">The <code class="literal">planner</code> reads the <a class="xref" href="#top">statistics</a>, then weighs one plan against another; ${'what it can not know it has to guess, and guesses add up. '.repeat(5)}</p>\n`
/** 38 KB a page on average, between 8 and 68. */
const SMALLEST = 8_000
const LARGEST = 68_000
const FILLER = Buffer.from(PARAGRAPH.repeat(Math.ceil(LARGEST / PARAGRAPH.length)))
const CHILDREN = 10
const OTHER_LINKS = 40

/**
 * Serves `pages` generated pages until the process ends, and prints its address: a tree of ten links a page, with forty
 * more to pages all over the site. Most of a page is a slice of one buffer, so that the server costs little of the
 * processors that the crawler runs on.
 */
export async function servePages(pages: number): Promise<void> {
  const server = createServer((request, response) => {
    const n = request.url === '/' ? 0 : Number(/^\/page\/(\d+)$/.exec(request.url ?? '')?.[1] ?? Number.NaN)
    if (!(n < pages)) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('There is no such page.\n')
      return
    }
    const head = Buffer.from(pageHead(n, pages))
    const paragraphs = Math.floor(
      (SMALLEST + (((n * 7919) % 1000) / 1000) * (LARGEST - SMALLEST)) / PARAGRAPH.length,
    )
    const filler = FILLER.subarray(0, Math.max(0, paragraphs * PARAGRAPH.length - head.length))
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-length': head.length + filler.length,
    })
    response.write(head)
    response.end(filler)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/\n`)
}

function pageHead(n: number, pages: number): string {
  const targets = Array.from({ length: CHILDREN }, (_, child) => n * CHILDREN + child + 1).filter(
    (m) => m < pages,
  )
  for (let other = 1; other <= OTHER_LINKS; other++) targets.push((n * 31 + other * 7907) % pages)
  const links = targets.map((m) => `<li><a href="${m === 0 ? '/' : `/page/${m}`}">Chapter ${m}</a></li>`)
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Chapter ${n}</title><meta name="description" content="Chapter ${n} of ${pages}"></head><body><h1>Chapter ${n}</h1><ul>${links.join('')}</ul>\n`
}

/** The generated site in a process of its own. */
export async function generatedSite(pages: number): Promise<BenchSite> {
  const child = spawn(process.execPath, [process.argv[1]!, 'bench-site', String(pages)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(child.stdout, 'data')
  return {
    url: String(line).trim(),
    description: `${pages} generated pages of 38 KB`,
    stop: async () => void child.kill('SIGKILL'),
  }
}

const MANUAL = '/usr/share/doc/postgresql-doc-15/html'

/** The PostgreSQL 15 manual behind nginx. @throws UserError when Debian's packages for it are not installed. */
export async function manualSite(): Promise<BenchSite> {
  const nginx = ['/usr/sbin/nginx', '/usr/bin/nginx'].find(existsSync)
  if (!nginx || !existsSync(join(MANUAL, 'index.html')))
    throw new UserError(
      'The manual cannot be served here; install the packages nginx and postgresql-doc-15, or leave --manual out.',
    )
  const folder = await mkdtemp(join(tmpdir(), 'orbweaver-bench-'))
  const port = await freePort()
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  )
  const config = `daemon off; pid ${folder}/pid; error_log stderr; events {}
http { access_log off; types { text/html html; text/css css; image/svg+xml svg; } ${temporary.join(' ')}
server { listen 127.0.0.1:${port}; root ${MANUAL}; keepalive_requests 1000000; } }`
  await writeFile(join(folder, 'nginx.conf'), config)
  const child = spawn(nginx, ['-p', folder, '-c', join(folder, 'nginx.conf')], {
    env: childEnv(),
    stdio: 'ignore',
  })
  const url = `http://127.0.0.1:${port}/index.html`
  await answering(url)
  return {
    url,
    description: 'the PostgreSQL 15 manual behind nginx',
    stop: async () => {
      child.kill('SIGTERM')
      await once(child, 'exit')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function answering(url: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await (await fetch(url)).arrayBuffer()
      return
    } catch (error) {
      if (attempt === 50) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
