import zlib from 'node:zlib'

/** What the layers found, shared by all of one body. */
export interface LayerState {
  /** Bytes a layer may give; it stops right above. */
  readonly cap: number
  /** A layer's data ended before its own end mark, or is broken; what came before is given. */
  cut: boolean
  /** A layer gave more than the cap. */
  capped: boolean
  /** Layers that were really there. */
  layers: number
}

/** Layers undone at most, declared or not. */
const MAX_LAYERS = 5
/** Compressed bytes handed to zlib at a time: what a broken piece can take with it. */
const SLICE = 8 * 1024

/**
 * Undoes Content-Encoding (RFC 9110 §8.4), the last applied first. Each layer looks at the bytes before it believes the
 * header: what does not begin as gzip is passed on, deflate may be zlib or raw, and gzip inside gzip is undone too.
 */
export function undoCodings(
  source: AsyncIterable<Buffer>,
  codings: readonly string[],
  state: LayerState,
): AsyncIterable<Buffer> {
  const layers = codings.slice(-MAX_LAYERS).reverse()
  if (layers.some(isGzipName)) layers.push('gzip')
  let bytes = source
  for (const coding of layers.slice(0, MAX_LAYERS)) {
    if (isGzipName(coding)) bytes = undo(bytes, state)
    else if (coding === 'deflate') bytes = undo(bytes, state, inflate)
    else if (coding === 'br') bytes = undo(bytes, state, unbrotli)
    else if (coding === 'zstd') bytes = undo(bytes, state)
    // Another name (a charset, a typing error): the bytes stay as they are.
  }
  return bytes
}

/** Node undoes zstd from 22.15 on. */
const createZstd = (zlib as { createZstdDecompress?: () => Engine }).createZstdDecompress
export const undoesZstd = createZstd !== undefined

/** What can be told by its first bytes is undone as what it is; the rest `otherwise`, or not at all. */
async function* undo(
  input: AsyncIterable<Buffer>,
  state: LayerState,
  otherwise?: (source: Bytes, state: LayerState) => AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  const source = new Bytes(input)
  const head = await source.atLeast(4)
  if (beginsMember(head)) yield* gunzip(source, state)
  else if (isZstd(head) && createZstd) yield* tryRun(createZstd(), source, state, true)
  // Data of "deflate" under another name, in one of its three usual beginnings.
  else if (head[0] === 0x78 && [0x01, 0x9c, 0xda].includes(head[1] ?? 0)) yield* inflate(source, state)
  else if (otherwise) yield* otherwise(source, state)
  else yield* source.rest()
}

export function isZstd(bytes: Buffer): boolean {
  return bytes.length >= 4 && bytes.readUInt32LE(0) === 0xfd2fb528
}

const isGzipName = (coding: string) => coding === 'gzip' || coding === 'x-gzip'

/**
 * Gzip members (RFC 1952), their frames read here and not by zlib: as in browsers, what follows the compressed data (a wrong
 * checksum, trailing garbage) does no harm, unless it is a further member.
 */
async function* gunzip(source: Bytes, state: LayerState): AsyncGenerator<Buffer> {
  state.layers++
  for (;;) {
    if (!(await skipHeader(source))) {
      state.cut = true
      return
    }
    if ((yield* run(zlib.createInflateRaw(), source, state)) !== 'end') return
    await source.atLeast(11)
    source.skip(8)
    if (!beginsMember(source.peek())) return await source.drain()
  }
}

function beginsMember(bytes: Buffer): boolean {
  return bytes.length >= 3 && bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 8
}

/** @returns false when the data ends within the header. */
async function skipHeader(source: Bytes): Promise<boolean> {
  const head = await source.atLeast(10)
  if (head.length < 10) return false
  const flags = head[3]!
  source.skip(10)
  if (flags & 4) {
    const length = await source.atLeast(2)
    if (length.length < 2) return false
    const extra = 2 + length.readUInt16LE(0)
    if ((await source.atLeast(extra)).length < extra) return false
    source.skip(extra)
  }
  // File name, then comment.
  for (const flag of [8, 16]) if (flags & flag && !(await source.skipPast(0))) return false
  if (flags & 2) {
    if ((await source.atLeast(2)).length < 2) return false
    source.skip(2)
  }
  return true
}

async function* inflate(source: Bytes, state: LayerState): AsyncGenerator<Buffer> {
  const head = await source.atLeast(2)
  if (head.length === 0) return
  // RFC 1950 §2.2; many servers send the bare data (RFC 1951) instead.
  const zlibHeader = head.length >= 2 && (head[0]! & 15) === 8 && head.readUInt16BE(0) % 31 === 0
  if (zlibHeader) source.skip(2)
  yield* tryRun(zlib.createInflateRaw(), source, state, zlibHeader)
}

async function* unbrotli(source: Bytes, state: LayerState): AsyncGenerator<Buffer> {
  if ((await source.atLeast(1)).length === 0) return
  yield* tryRun(zlib.createBrotliDecompress(), source, state, false)
}

/** Runs a decoder whose data cannot be told by its first bytes: text that does not decode was never compressed. */
async function* tryRun(
  engine: Engine,
  source: Bytes,
  state: LayerState,
  sure: boolean,
): AsyncGenerator<Buffer> {
  const plain = !sure && looksPlain(await source.atLeast(SLICE))
  const end = yield* run(engine, source, state, plain)
  if (end === 'never compressed') return yield* source.rest()
  state.layers++
  if (end === 'end') await source.drain()
}

/** No control characters but white space and escape in the first half KiB. */
function looksPlain(bytes: Buffer): boolean {
  return !/[\x00-\x08\x0e-\x1a\x1c-\x1f]/.test(bytes.toString('latin1', 0, 512))
}

type Engine = zlib.InflateRaw | zlib.BrotliDecompress // and zstd's, which has the same shape

/**
 * Pumps `source` through a decoder until the data's own end; bytes behind it stay in `source`.
 * @param doubtful an error in the first slice means `never compressed`: nothing was given, `source` is untouched.
 * @returns how it ended; with `cut` and `broken`, `state.cut` is set.
 */
async function* run(
  engine: Engine,
  source: Bytes,
  state: LayerState,
  doubtful = false,
): AsyncGenerator<Buffer, 'end' | 'cap' | 'cut' | 'broken' | 'never compressed'> {
  let pieces: Buffer[] = []
  let bytes = 0
  let fed = 0
  let failed = false
  let settle: () => void = () => {}
  engine.on('data', (piece: Buffer) => {
    pieces.push(piece)
    bytes += piece.length
    // Within one write a bomb can give gigabytes.
    if (bytes > state.cap) engine.destroy()
  })
  engine.on('error', () => {
    failed = true
    settle()
  })
  engine.on('close', () => settle())
  // zlib's way to say that it needs no more input.
  engine.on('end', () => settle())
  try {
    for (;;) {
      const available = await source.atLeast(1)
      const slice = available.subarray(0, SLICE)
      const last = slice.length === 0
      await new Promise<void>((resolve) => {
        settle = resolve
        if (last) engine.end()
        else engine.write(slice, () => resolve())
      })
      if (failed && doubtful && fed === 0) return 'never compressed'
      yield* pieces
      pieces = []
      if (bytes > state.cap) {
        state.capped = true
        return 'cap'
      }
      if (failed) {
        state.cut = true
        return last ? 'cut' : 'broken'
      }
      if (last) return 'end'
      fed += slice.length
      const used = engine.bytesWritten
      source.skip(slice.length - (fed - used))
      if (used < fed || engine.readableEnded) return 'end'
    }
  } finally {
    engine.destroy()
  }
}

/** A stream of chunks with a look ahead. */
class Bytes {
  #bytes: Buffer = Buffer.alloc(0)
  #ended = false
  readonly #iterator: AsyncIterator<Buffer>

  constructor(source: AsyncIterable<Buffer>) {
    this.#iterator = source[Symbol.asyncIterator]()
  }

  peek(): Buffer {
    return this.#bytes
  }

  /** What is there, once it is `count` bytes or all there will be. */
  async atLeast(count: number): Promise<Buffer> {
    while (this.#bytes.length < count && !this.#ended) {
      const next = await this.#iterator.next()
      if (next.done) this.#ended = true
      else this.#bytes = this.#bytes.length === 0 ? next.value : Buffer.concat([this.#bytes, next.value])
    }
    return this.#bytes
  }

  skip(count: number): void {
    this.#bytes = this.#bytes.subarray(count)
  }

  async skipPast(byte: number): Promise<boolean> {
    for (;;) {
      const at = (await this.atLeast(1)).indexOf(byte)
      if (at >= 0) {
        this.skip(at + 1)
        return true
      }
      if (this.#bytes.length === 0) return false
      this.skip(this.#bytes.length)
    }
  }

  async *rest(): AsyncGenerator<Buffer> {
    while ((await this.atLeast(1)).length > 0) {
      const bytes = this.#bytes
      this.skip(bytes.length)
      yield bytes
    }
  }

  /** Reads to the end, so that the connection can be used again. */
  async drain(): Promise<void> {
    while ((await this.atLeast(1)).length > 0) this.skip(this.#bytes.length)
  }
}
