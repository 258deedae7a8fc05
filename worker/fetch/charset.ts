import { isUtf8 } from 'node:buffer'
import { TextDecoder as StandardDecoder } from '@exodus/bytes/encoding.js'
import { analyse } from 'chardet'
import { declaredCharset } from './charset-declaration'

/**
 * The text of a page and the name of its encoding (WHATWG Encoding Standard, lower case), by the order of the HTML
 * Standard, §13.2.3.2: byte order mark, the header's charset, what the page declares in its first bytes, then a look at
 * the bytes. Never throws; what cannot be decoded becomes U+FFFD.
 */
export function decodeHtml(body: Buffer, contentType: string | null): Decoded {
  for (const source of ['bom', 'header', 'page'] as const) {
    const charset = FINDERS[source](body, contentType)
    if (charset !== null) return { text: decode(body, charset), charset, source }
  }
  const charset = detect(body)
  return { text: decode(body, charset), charset, source: 'bytes' }
}

/** As `decodeHtml` for XML, which is UTF-8 when neither its header nor itself says otherwise. */
export function decodeXml(body: Buffer, contentType: string | null): Decoded {
  const found = decodeHtml(body, contentType)
  return found.source === 'bytes' ? { text: decode(body, 'utf-8'), charset: 'utf-8', source: 'bytes' } : found
}

/** As `decodeHtml` for JSON, which is UTF-8 (RFC 8259) unless a byte order mark or its header says otherwise. */
export function decodeJson(body: Buffer, contentType: string | null): Decoded {
  for (const source of ['bom', 'header'] as const) {
    const charset = FINDERS[source](body, contentType)
    if (charset !== null) return { text: decode(body, charset), charset, source }
  }
  return { text: decode(body, 'utf-8'), charset: 'utf-8', source: 'bytes' }
}

export interface Decoded {
  text: string
  charset: string
  /** What said so: a byte order mark, the Content-Type, the page's own declaration, or nothing but a look at its bytes. */
  source: 'bom' | 'header' | 'page' | 'bytes'
}

const FINDERS = {
  bom: bomOf,
  header: (_body: Buffer, contentType: string | null) => headerCharset(contentType),
  page: (body: Buffer) => wideXml(body) ?? declared(body),
}

/** `<?x` in two bytes a character (HTML Standard, prescan). */
function wideXml(body: Buffer): string | null {
  const head = body.toString('latin1', 0, 6)
  return head === '<\0?\0x\0' ? 'utf-16le' : head === '\0<\0?\0x' ? 'utf-16be' : null
}

function bomOf(body: Buffer): string | null {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return 'utf-8'
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be'
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le'
  return null
}

function headerCharset(contentType: string | null): string | null {
  const match = contentType && /[;,\s]charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;,]+))/i.exec(contentType)
  return match ? encodingOf(match[1] ?? match[2] ?? match[3] ?? '') : null
}

function declared(body: Buffer): string | null {
  const encoding = declaredCharset(body, (label) => encodingOf(label) !== null)
  const name = encoding && encodingOf(encoding)
  // A page whose ASCII could be read is in neither (HTML Standard, prescan).
  if (name === 'utf-16le' || name === 'utf-16be') return 'utf-8'
  return name === 'x-user-defined' ? 'windows-1252' : name
}

/** Labels that Node does not know, or not by the standard's meaning. `replacement` is for encodings unsafe to decode. */
const LABELS: Record<string, string> = {
  cp936: 'gbk',
  ms936: 'gbk',
  'windows-936': 'gbk',
  cp949: 'euc-kr',
  cp932: 'shift_jis',
  cp950: 'big5',
  utf8mb4: 'utf-8',
  'x-user-defined': 'x-user-defined',
  'iso-8859-16': 'iso-8859-16',
  'utf-7': 'replacement',
  replacement: 'replacement',
  'hz-gb-2312': 'replacement',
  'iso-2022-cn': 'replacement',
  'iso-2022-cn-ext': 'replacement',
  'iso-2022-kr': 'replacement',
  csiso2022kr: 'replacement',
}

const known = new Map<string, string | null>()

/** The standard's name for a label, or null when it names no encoding. */
export function encodingOf(label: string): string | null {
  const key = label.trim().toLowerCase()
  let name = known.get(key)
  if (name === undefined) {
    name = LABELS[key] ?? nodeEncodingOf(key)
    // Labels are the pages' to choose.
    if (known.size < 1000) known.set(key, name)
  }
  return name
}

function nodeEncodingOf(label: string): string | null {
  try {
    return new TextDecoder(label).encoding
  } catch {
    return null
  }
}

function decode(body: Buffer, charset: string): string {
  switch (charset) {
    case 'utf-8':
      return body.toString('utf8', bomOf(body) === 'utf-8' ? 3 : 0)
    case 'windows-1252':
      return decodeWindows1252(body)
    case 'replacement':
      return body.length > 0 ? '\ufffd' : ''
    // Node's tables, and what it does with broken bytes, differ from the standard's and from version to version.
    default:
      return new StandardDecoder(charset).decode(body)
  }
}

const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

/** Node decodes it as Latin-1. */
function decodeWindows1252(body: Buffer): string {
  const text = body.toString('latin1')
  return /[\x80-\x9f]/.test(text)
    ? text.replace(/[\x80-\x9f]/g, (byte) => WINDOWS_1252[byte.charCodeAt(0) - 0x80]!)
    : text
}

/** Bytes beyond ASCII that the detector sees: enough to be sure, few enough to cost nothing. */
const SAMPLE_BYTES = 8 * 1024
/** What the detector may answer; its other guesses (EBCDIC, UTF-32 …) are no encodings of the web. */
const SEEN_ON_THE_WEB = new Set(
  'gb18030 big5 euc-jp shift_jis euc-kr iso-2022-jp windows-1251 windows-1252 windows-1250 windows-1253 windows-1254 windows-1255 windows-1256 koi8-r utf-16le utf-16be'.split(
    ' ',
  ),
)

/** A guess for a page that says nothing: valid UTF-8 is UTF-8, the rest by letter statistics, else windows-1252. */
function detect(body: Buffer): string {
  if (isUtf8(body) || isUtf8(withoutCutCharacter(body))) return 'utf-8'
  for (const { name } of analyse(foreignText(body))) {
    const encoding = encodingOf(name)
    if (encoding && SEEN_ON_THE_WEB.has(encoding)) return encoding
  }
  return 'windows-1252'
}

/** A body that was cut may end within a character. */
function withoutCutCharacter(body: Buffer): Buffer {
  for (let back = 1; back <= 3 && back <= body.length; back++) {
    const byte = body[body.length - back]!
    if (byte >= 0xc0) return body.subarray(0, body.length - back)
    if (byte < 0x80) break
  }
  return body
}

/** The runs of the page that are not ASCII, with what joins them: markup would drown them. */
function foreignText(body: Buffer): Buffer {
  const text = body.toString('latin1')
  const run = /[^<>]{0,2}[\x80-\xff][^<>]*/g
  let runs = ''
  for (let match = run.exec(text); match && runs.length < SAMPLE_BYTES; match = run.exec(text))
    runs += `${match[0]} `
  return Buffer.from(runs.slice(0, SAMPLE_BYTES), 'latin1')
}
