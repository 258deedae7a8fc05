import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** A link as the row of its page keeps it, so that it can be admitted again after a loss, with all that it was given. */
export interface StoredLink {
  url: string
  /** Absent: that of the page's task, or of its seed. */
  priority?: number
  /** A JSON text. */
  meta?: string
}

/** A line a link: the URL and, after a tab, what else there is (URLs hold neither). null for no links. */
export function packLinks(links: readonly StoredLink[]): Buffer | null {
  if (links.length === 0) return null
  const lines = links.map(({ url, priority, meta }) =>
    priority === undefined && meta === undefined ? url : `${url}\t${JSON.stringify({ priority, meta })}`,
  )
  return deflateRawSync(lines.join('\n'))
}

/** What `packLinks` was given. */
export function unpackLinks(packed: Buffer | null): StoredLink[] {
  if (packed === null) return []
  const lines = inflateRawSync(packed).toString('utf8').split('\n').filter(Boolean)
  return lines.map((line) => {
    const [url, more] = line.split('\t')
    return { url: url!, ...(more === undefined ? {} : (JSON.parse(more) as Omit<StoredLink, 'url'>)) }
  })
}
