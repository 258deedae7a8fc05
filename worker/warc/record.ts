import { createHash, randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

const compress = promisify(gzip)

/** Named fields of a record's header, in their order. */
export type Fields = Record<string, string>

export interface WarcRecord {
  /** WARC-Record-ID, with its angle brackets. */
  id: string
  /** The record as it stands in the file: one gzip member (WARC 1.1, annex D). */
  bytes: Buffer
}

/** `<urn:uuid:…>`, WARC 1.1 §5.2. */
export const recordId = (): string => `<urn:uuid:${randomUUID()}>`

/**
 * One record (WARC 1.1 §4–5): version, header, block and the two line ends after it.
 * @param block bytes of the record's content; its length and digest are added here.
 */
export async function encodeRecord(
  type: 'warcinfo' | 'request' | 'response' | 'revisit' | 'metadata',
  fields: Fields,
  block: Buffer,
): Promise<WarcRecord> {
  const id = fields['WARC-Record-ID'] ?? recordId()
  const header: Fields = {
    'WARC-Type': type,
    'WARC-Record-ID': id,
    ...fields,
    'WARC-Block-Digest': `sha1:${base32(sha1(block))}`,
    'Content-Length': String(block.length),
  }
  const lines = Object.entries(header).map(([name, value]) => `${name}: ${oneLine(value)}`)
  const plain = Buffer.concat([
    Buffer.from(`WARC/1.1\r\n${lines.join('\r\n')}\r\n\r\n`),
    block,
    Buffer.from('\r\n\r\n'),
  ])
  return { id, bytes: await compress(plain) }
}

/** A value that a page had a say in must not begin a header line of its own. */
const oneLine = (value: string) => value.replace(/[\r\n]+/g, ' ')

/** WARC-Date with milliseconds, in UTC (W3C date and time, WARC 1.1 §5.4). */
export const warcDate = (date: Date): string => date.toISOString()

export const sha1 = (bytes: Buffer): Buffer => createHash('sha1').update(bytes).digest()

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** RFC 4648 §6, for lengths that need no padding: digests are written so by custom. */
export function base32(bytes: Buffer): string {
  let text = ''
  let value = 0
  let bits = 0
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += BASE32[(value >>> bits) & 31]
    }
  }
  return text
}
