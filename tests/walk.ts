import { load } from 'cheerio'

/**
 * An independent walk of a link graph, as an oracle: Node's own fetch, parse5 through cheerio, plain sets; nothing of Orbweaver.
 * Follows the links of every HTML page that answers 200, on the start's host only.
 *
 * @returns the URLs that answered 200 and those that did not, fragments dropped.
 */
export async function walk(start: string): Promise<{ ok: Set<string>; other: Map<string, number> }> {
  const host = new URL(start).host
  const ok = new Set<string>()
  const other = new Map<string, number>()
  const seen = new Set([start])
  const queue = [start]
  const next = async (): Promise<void> => {
    for (let url = queue.pop(); url !== undefined; url = queue.pop()) {
      const answer = await fetch(url)
      const body = await answer.text()
      if (answer.status !== 200) {
        other.set(url, answer.status)
        continue
      }
      ok.add(url)
      if (!/html/.test(answer.headers.get('content-type') ?? '')) continue
      const $ = load(body, { scriptingEnabled: false })
      $('a[href], area[href], frame[src], iframe[src], link[rel~=next][href], link[rel~=prev][href]').each(
        (_, node) => {
          let target: URL
          try {
            target = new URL($(node).attr('href') ?? $(node).attr('src') ?? '', answer.url)
          } catch {
            return
          }
          target.hash = ''
          if (target.host !== host || !/^https?:$/.test(target.protocol) || seen.has(target.href)) return
          seen.add(target.href)
          queue.push(target.href)
        },
      )
    }
  }
  // Several walkers share the list; one that finds it empty may be early, so they are started again until nothing is left.
  while (queue.length > 0) await Promise.all(Array.from({ length: 8 }, next))
  return { ok, other }
}
