import zlib from 'node:zlib'
import { type LayerState, undoCodings } from './content-codings'

export interface DecodedBody {
  body: Buffer
  truncated: 'cap' | 'cut' | null
}

/** How a body tells its connection what to do. */
export interface Flow {
  /** Enough: the rest need not come. Called once at most. */
  stop(): void
  /** Goes on after a `write` that answered false. */
  resume(): void
}

/** Compressed bytes up to which a body is decoded in one go, without a trip to the thread pool, once it is all there. */
const WHOLE_BYTES = 128 * 1024
/** Decoded bytes that this may give at most: some 2 ms of the event loop. */
const WHOLE_OUTPUT_BYTES = 1024 * 1024
/** Bytes that wait for the decoder before the connection is paused. */
const QUEUE_BYTES = 256 * 1024

/**
 * Takes the bytes of a body as they come and gives the decoded body, at most `cap` bytes of it, whatever was sent: a lie
 * about the coding, a layer too many, a bomb. Memory stays within the cap and a few hundred KiB.
 */
export class BodyReader {
  #chunks: Buffer[] = []
  #wireBytes = 0
  #full = false
  #decoding: { queue: ChunkQueue; result: Promise<DecodedBody> } | null = null

  constructor(
    readonly codings: readonly string[],
    readonly cap: number,
    readonly flow: Flow,
  ) {}

  get wireBytes(): number {
    return this.#wireBytes
  }

  /** @returns false to pause until `flow.resume`. */
  write(chunk: Buffer): boolean {
    if (this.#full) return true
    this.#wireBytes += chunk.length
    if (this.#decoding) return this.#decoding.queue.push(chunk)
    this.#chunks.push(chunk)
    if (this.codings.length === 0) {
      if (this.#wireBytes > this.cap) this.#fill()
    } else if (this.#wireBytes > WHOLE_BYTES) this.#decodeAsItComes()
    return true
  }

  /** The body; `cut` when the connection ended before the answer did. */
  async end(cut: boolean): Promise<DecodedBody> {
    if (this.codings.length === 0) return this.#plain(cut)
    if (this.#decoding) {
      this.#decoding.queue.end(cut)
      return this.#decoding.result
    }
    if (this.#wireBytes === 0) return { body: Buffer.alloc(0), truncated: cut ? 'cut' : null }
    const whole = cut ? null : this.#decodeWhole()
    if (whole) return { body: whole, truncated: null }
    const decoding = this.#decodeAsItComes()
    decoding.queue.end(cut)
    return decoding.result
  }

  /** The body is not wanted any more. */
  discard(): void {
    this.#full = true
    this.#chunks = []
    this.#decoding?.queue.end(true)
  }

  #plain(cut: boolean): DecodedBody {
    const over = this.#wireBytes > this.cap
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#wireBytes)
    return { body: over ? body.subarray(0, this.cap) : body, truncated: over ? 'cap' : cut ? 'cut' : null }
  }

  #fill(): void {
    if (this.#full) return
    this.#full = true
    this.flow.stop()
  }

  /** The common case, one honest layer; null for anything else, which then takes the long way. */
  #decodeWhole(): Buffer | null {
    if (this.codings.length !== 1) return null
    const wire = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#wireBytes)
    this.#chunks = [wire]
    const options = { maxOutputLength: Math.min(this.cap, WHOLE_OUTPUT_BYTES), chunkSize: 64 * 1024 }
    try {
      switch (this.codings[0]) {
        case 'gzip':
        case 'x-gzip': {
          const body = zlib.gunzipSync(wire, options)
          return isGzip(body) ? null : body
        }
        case 'br':
          return zlib.brotliDecompressSync(wire, options)
        default:
          return null
      }
    } catch {
      return null
    }
  }

  #decodeAsItComes() {
    const queue = new ChunkQueue(this.flow)
    for (const chunk of this.#chunks) queue.push(chunk)
    this.#chunks = []
    this.#decoding = { queue, result: this.#collect(queue) }
    return this.#decoding
  }

  async #collect(queue: ChunkQueue): Promise<DecodedBody> {
    const state: LayerState = { cap: this.cap, cut: false, capped: false, layers: 0 }
    const pieces: Buffer[] = []
    let bytes = 0
    for await (const piece of undoCodings(queue, this.codings, state)) {
      pieces.push(piece)
      bytes += piece.length
      if (bytes > this.cap) break
    }
    const body = Buffer.concat(pieces, Math.min(bytes, this.cap))
    // Too much or broken: nobody reads on.
    if (!queue.ended) this.#fill()
    if (state.capped || bytes > this.cap) return { body, truncated: 'cap' }
    // Compressed data knows its own end, better than a wrong Content-Length.
    const cut = state.layers > 0 ? state.cut : queue.cut
    return { body, truncated: cut ? 'cut' : null }
  }
}

export function isGzip(bytes: Buffer): boolean {
  return bytes.length > 2 && bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 8
}

/** Chunks on their way from the connection to the decoder. */
class ChunkQueue implements AsyncIterable<Buffer> {
  cut = false
  ended = false
  #chunks: Buffer[] = []
  #bytes = 0
  #paused = false
  #wake: (() => void) | null = null

  constructor(readonly flow: Flow) {}

  push(chunk: Buffer): boolean {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    this.#wake?.()
    if (this.#bytes > QUEUE_BYTES) this.#paused = true
    return !this.#paused
  }

  end(cut: boolean): void {
    this.cut = cut
    this.ended = true
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (;;) {
      const chunk = this.#chunks.shift()
      if (chunk) {
        this.#bytes -= chunk.length
        yield chunk
      } else if (this.ended) return
      else {
        if (this.#paused) {
          this.#paused = false
          this.flow.resume()
        }
        // `resume` may have pushed at once.
        if (this.#chunks.length === 0 && !this.ended) {
          await new Promise<void>((wake) => {
            this.#wake = wake
          })
          this.#wake = null
        }
      }
    }
  }
}
