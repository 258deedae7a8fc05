/** Bytes in which a page may declare its encoding. The standard's prescan sees 1,024; browsers heed later ones as well. */
const PRESCAN_BYTES = 4096

/**
 * The label of the encoding that a page declares of itself: the HTML Standard's "prescan a byte stream" (§13.2.3.2), with its
 * look at the XML declaration. Comments and other tags' attributes are stepped over. A label that is not `usable` does not count.
 */
export function declaredCharset(body: Buffer, usable: (label: string) => boolean): string | null {
  const text = body.toString('latin1', 0, Math.min(body.length, PRESCAN_BYTES))
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    if (text.startsWith('<!--', at)) {
      // `<!-->` is a whole comment.
      const end = text.indexOf('-->', at + 2)
      if (end < 0) break
      at = end + 3
    } else if (/^<meta[\s/]/i.test(text.slice(at, at + 6))) {
      const { attributes, end } = readAttributes(text, at + 5)
      const label = metaCharset(attributes)
      if (label !== null && usable(label)) return label
      at = end
    } else if (/^<\/?[a-z]/i.test(text.slice(at, at + 3))) {
      const name = /^<\/?[^\s>]*/.exec(text.slice(at, at + 200))![0]
      at = readAttributes(text, at + name.length).end
    } else if (/^<[!/?]/.test(text.slice(at, at + 2))) {
      const end = text.indexOf('>', at)
      if (end < 0) break
      at = end + 1
    } else at += 1
  }
  return xmlCharset(text, usable)
}

/** `charset=` of its own, or the one within `content` of an http-equiv Content-Type (by whatever spelling of it). */
function metaCharset(attributes: Map<string, string>): string | null {
  const own = attributes.get('charset')
  if (own !== undefined) return own
  const pragma = (attributes.get('http-equiv') ?? attributes.get('httpequiv') ?? '').toLowerCase()
  if (pragma.replace(/[^a-z]/g, '') !== 'contenttype') return null
  const match = /charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))/i.exec(attributes.get('content') ?? '')
  return match ? (match[1] ?? match[2] ?? match[3] ?? null) : null
}

const ATTRIBUTE = /[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*)))?/y

/** Attributes from `start` up to the tag's end; of equal names the first counts. */
function readAttributes(text: string, start: number): { attributes: Map<string, string>; end: number } {
  const attributes = new Map<string, string>()
  let end = start
  for (;;) {
    ATTRIBUTE.lastIndex = end
    const match = ATTRIBUTE.exec(text)
    if (!match) break
    const name = match[1]!.toLowerCase()
    if (!attributes.has(name)) attributes.set(name, match[2] ?? match[3] ?? match[4] ?? '')
    end = ATTRIBUTE.lastIndex
  }
  return { attributes, end: Math.max(end, start) }
}

function xmlCharset(text: string, usable: (label: string) => boolean): string | null {
  const label = /^<\?xml[^>]*?\bencoding\s*=\s*["']([^"']+)["']/.exec(text)?.[1]
  return label !== undefined && usable(label) ? label : null
}
