import type { FileHandle } from 'node:fs/promises'

/** Of a file that another process wrote, or this one before it ended. */
export interface Leftover {
  /** Bytes of its whole lines. */
  size: number
  /** Its last lines, each with its end. */
  last: Set<string>
}

/** As much of the end is remembered; a batch is smaller, but for that of one huge page. */
const END_BYTES = 16_000_000
const LINE_END = 0x0a
const QUOTE = 0x22

/**
 * Reads how far a file is whole, and the lines at its end.
 * @param head of CSV, whose cells may hold line breaks in quotes: it is read from its begin on. Empty: JSON lines
 * @throws Error when a file of CSV begins with another head: its columns are others.
 */
export async function lookThrough(
  file: FileHandle,
  size: number,
  head: string,
  path: string,
): Promise<Leftover> {
  if (size === 0) return { size, last: new Set() }
  const csv = head !== ''
  if (csv) {
    const wanted = Buffer.from(head)
    const begun = Buffer.alloc(Math.min(wanted.length, size))
    await file.read(begun, 0, begun.length, 0)
    if (!begun.equals(wanted.subarray(0, begun.length)))
      throw new Error(`${path} has other columns; move it away, or give the sink another folder`)
    // Not even its head is whole.
    if (size < wanted.length) return { size: 0, last: new Set() }
  }
  const begin = csv || size <= END_BYTES ? 0 : size - END_BYTES
  const found = await lineEnds(file, begin, size, csv)
  // A single line is longer than what was read.
  const ends = found.length > 0 || begin === 0 ? found : await lineEnds(file, 0, size, csv)
  const from = ends[0] ?? 0
  const whole = ends.at(-1) ?? 0
  const bytes = Buffer.alloc(whole - from)
  await file.read(bytes, 0, bytes.length, from)
  const lines = ends.slice(1).map((end, n) => bytes.toString('utf8', ends[n]! - from, end - from))
  return { size: whole, last: new Set(lines) }
}

/** Where lines end, from `begin` on and among the last bytes; the begin of the file counts as an end. */
async function lineEnds(file: FileHandle, begin: number, size: number, csv: boolean): Promise<number[]> {
  const ends = begin === 0 ? [0] : []
  let at = begin
  let quoted = false
  for await (const chunk of file.createReadStream({ start: begin, end: size - 1, autoClose: false })) {
    for (const byte of chunk as Buffer) {
      at++
      if (byte === QUOTE && csv) quoted = !quoted
      if (byte !== LINE_END || quoted) continue
      // Of those that are further back the last is enough.
      while (ends.length > 0 && ends[0]! < size - END_BYTES) ends.shift()
      ends.push(at)
    }
  }
  return ends
}
