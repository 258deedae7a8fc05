/** What a page asks of crawlers, in its robots meta elements or its X-Robots-Tag headers. */
export interface RobotsDirectives {
  noindex: boolean
  nofollow: boolean
}

/** Directives that are followed by a colon of their own, not the name of a crawler. */
const VALUED = /^(unavailable_after|max-snippet|max-image-preview|max-video-preview)$/

/**
 * Reads an X-Robots-Tag header (its lines parted by line feeds): directives for everybody, and those behind the crawler's own
 * product token (`weaverbot: noindex`).
 */
export function readRobotsTag(header: string | undefined, token: string): RobotsDirectives {
  const mine: string[] = []
  for (const line of (header ?? '').split('\n')) {
    let agent: string | null = null
    for (const part of line.split(',')) {
      const named = /^\s*([\w-]+)\s*:(.*)$/s.exec(part)
      if (named && !VALUED.test(named[1]!.toLowerCase())) agent = named[1]!.toLowerCase()
      if (agent === null || agent === token.toLowerCase()) mine.push(named && agent ? named[2]! : part)
    }
  }
  return readDirectives(mine.join(','))
}

/** Reads the content of a robots meta element. `none` is both. */
export function readDirectives(content: string): RobotsDirectives {
  const words = content.toLowerCase().split(/[\s,]+/)
  const none = words.includes('none')
  return { noindex: none || words.includes('noindex'), nofollow: none || words.includes('nofollow') }
}
