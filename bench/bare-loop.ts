import { Parser } from 'htmlparser2'
import { Pool } from 'undici'

export interface BareResult {
  pages: number
  bytes: number
  seconds: number
}

/**
 * The yardstick: the least that any crawler of this platform must do. Fetch, find title and links, remember in memory
 * what was seen; no queue, no politeness, no limits, nothing stored.
 */
export async function bareLoop(seed: string, concurrency: number): Promise<BareResult> {
  const { origin } = new URL(seed)
  const pool = new Pool(origin, { connections: concurrency })
  const seen = new Set([seed])
  const queue = [seed]
  const titles = new Map<string, string>()
  let bytes = 0
  let open = 0
  const started = performance.now()
  await new Promise<void>((resolve, reject) => {
    const next = () => {
      while (open < concurrency && queue.length > 0) {
        open++
        visit(queue.pop()!)
          .then(() => {
            open--
            if (open === 0 && queue.length === 0) resolve()
            else next()
          })
          .catch(reject)
      }
    }
    next()
  })
  const seconds = (performance.now() - started) / 1000
  await pool.close()
  return { pages: titles.size, bytes, seconds }

  async function visit(url: string): Promise<void> {
    const { statusCode, headers, body } = await pool.request({
      path: url.slice(origin.length),
      method: 'GET',
    })
    const buffer = Buffer.from(await body.arrayBuffer())
    if (statusCode !== 200 || !String(headers['content-type']).startsWith('text/html')) return
    bytes += buffer.length
    titles.set(url, readTitleAndLinks(buffer.toString('utf8'), url))
  }

  function readTitleAndLinks(html: string, base: string): string {
    let title = ''
    let inTitle = false
    const parser = new Parser({
      onopentag(name, attributes) {
        inTitle = name === 'title'
        if (name !== 'a' || !attributes.href) return
        const target = URL.canParse(attributes.href, base) ? new URL(attributes.href, base) : null
        if (!target || target.origin !== origin) return
        target.hash = ''
        if (seen.has(target.href)) return
        seen.add(target.href)
        queue.push(target.href)
      },
      ontext(text) {
        if (inTitle) title += text
      },
      onclosetag() {
        inTitle = false
      },
    })
    parser.end(html)
    return title
  }
}
