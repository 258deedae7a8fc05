import iconv from 'iconv-lite'

/** A line of a text file, without its end; `text` is null for one that is longer than allowed. */
export interface TextLine {
  /** Counted from 1. */
  number: number
  text: string | null
}

/** Longest line, in characters. A longer one is skipped over without being kept in memory. */
export const LINE_CHARACTERS = 65_536
/** Bytes looked at, from the first that is not ASCII on, before the encoding is decided. */
const DECIDE_BYTES = 4096

export const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'gb18030'] as const
export type Encoding = (typeof ENCODINGS)[number]

/**
 * The lines of a file of unknown encoding, in bounded memory. A byte order mark decides (UTF-8, UTF-16); without one the text is
 * UTF-8, or GB18030 (which includes GBK and GB 2312) when the first bytes beyond ASCII are not valid UTF-8.
 * @param encoding instead of finding out.
 * @param onEncoding is called once something other than ASCII tells.
 */
export async function* textLines(
  bytes: AsyncIterable<Uint8Array>,
  encoding?: Encoding,
  onEncoding?: (found: Encoding) => void,
): AsyncGenerator<TextLine> {
  let rest = ''
  let number = 1
  let tooLong = false
  for await (const part of decoded(bytes, encoding, onEncoding)) {
    const lines = (rest + part).split(/\r\n|\n|\r(?!$)/)
    // The last piece has no end yet; a lone CR at its end may be half of one.
    rest = lines.pop()!
    for (const text of lines) {
      yield { number: number++, text: tooLong || text.length > LINE_CHARACTERS ? null : text }
      tooLong = false
    }
    if (rest.length > LINE_CHARACTERS) {
      tooLong = true
      rest = rest.endsWith('\r') ? '\r' : ''
    }
  }
  const last = rest.replace(/\r$/, '')
  if (last !== '' || tooLong) yield { number, text: tooLong ? null : last }
}

async function* decoded(
  bytes: AsyncIterable<Uint8Array>,
  encoding: Encoding | undefined,
  onEncoding: ((found: Encoding) => void) | undefined,
): AsyncGenerator<string> {
  const decoderOf = (first: Buffer, atBegin: boolean) => {
    const found = encodingOf(first, atBegin)
    onEncoding?.(found)
    return iconv.getDecoder(found)
  }
  let decoder: iconv.DecoderStream | undefined = encoding && iconv.getDecoder(encoding)
  let undecided: Buffer = Buffer.alloc(0)
  let atBegin = true
  for await (const chunk of bytes) {
    undecided = Buffer.concat([undecided, chunk])
    if (!decoder) {
      const first = undecided.findIndex((byte) => byte > 0x7f)
      if (first === -1) {
        // Plain ASCII reads the same in all of them.
        yield undecided.toString('latin1')
        undecided = Buffer.alloc(0)
        atBegin = false
        continue
      }
      if (undecided.length - first < DECIDE_BYTES) continue
      decoder = decoderOf(undecided, atBegin)
    }
    yield decoder.write(undecided)
    undecided = Buffer.alloc(0)
  }
  decoder ??= decoderOf(undecided, atBegin)
  yield decoder.write(undecided)
  yield decoder.end() ?? ''
}

function encodingOf(bytes: Buffer, atBegin: boolean): Encoding {
  if (atBegin && bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (atBegin && bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  try {
    // As a stream: a character that is cut off at the end is no fault.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return 'utf-8'
  } catch {
    return 'gb18030'
  }
}
