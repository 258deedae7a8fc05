import type { Socket } from 'node:net'
import type { buildConnector } from 'undici'
import { Exchange, type ExchangeRequest } from './exchange'
import { FetchFailure, failureOf } from './failure'

const MAX_HEAD_BYTES = 64 * 1024
const LF = 10

/**
 * Sends a request on a connection of its own and reads the answer as leniently as browsers do. For answers that undici
 * refuses: bare line feeds, header lines without a colon, folded ones, control characters, unasked 1xx answers,
 * Content-Length said twice. What has no status line is not HTTP here either.
 */
export function tolerantDispatch(connect: buildConnector.connector, request: ExchangeRequest): Exchange {
  const exchange = new Exchange(request)
  const { url } = request
  connect(
    {
      host: url.host,
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      protocol: url.protocol,
      port: url.port,
    },
    (error, socket) => {
      if (error) exchange.fail(failureOf(error, url.href))
      else if (exchange.over) socket.destroy()
      else converse(socket, exchange)
    },
  )
  return exchange
}

function converse(socket: Socket, exchange: Exchange): void {
  const { url, headers, readTimeoutMs } = exchange.request
  const reader = new AnswerReader(exchange)
  exchange.onStop = () => socket.destroy()
  exchange.onResume = () => socket.resume()
  socket.setTimeout(readTimeoutMs, () => {
    const code = exchange.begun ? 'timeout_idle' : 'timeout_headers'
    exchange.fail(new FetchFailure(code, `${url.href}: nothing came for ${readTimeoutMs} ms`))
  })
  socket.on('data', (chunk: Buffer) => {
    try {
      if (!reader.read(chunk)) socket.pause()
    } catch (error) {
      exchange.fail(error)
    }
    if (exchange.over) socket.destroy()
  })
  socket.on('end', () => reader.end())
  socket.on('error', (error) => {
    if (exchange.begun) reader.end()
    else exchange.fail(failureOf(error, url.href))
  })
  socket.on('close', () => reader.end())
  const lines = [`GET ${url.pathname}${url.search} HTTP/1.1`, `host: ${url.host}`, 'connection: close']
  for (let index = 0; index < headers.length; index += 2)
    lines.push(`${headers[index]}: ${headers[index + 1]}`)
  socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

/** How the end of the body is known (RFC 9112 §6.3). */
type Framing = { kind: 'head' | 'close' | 'size' | 'trailer' } | { kind: 'length' | 'chunk'; left: number }

/** Reads one answer: head, body by its framing. */
class AnswerReader {
  #pending: Buffer = Buffer.alloc(0)
  #framing: Framing = { kind: 'head' }

  constructor(readonly exchange: Exchange) {}

  /** @returns false to pause. @throws FetchFailure `malformed_http`. */
  read(chunk: Buffer): boolean {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    let open = true
    while (!this.exchange.over && this.#step((bytes) => (open = this.exchange.data(bytes) && open)));
    return open
  }

  /** The connection is at its end. */
  end(): void {
    const { exchange } = this
    if (exchange.over) return
    if (exchange.begun) exchange.finish(this.#framing.kind !== 'close' && this.#framing.kind !== 'trailer')
    else exchange.fail(this.#malformed('the connection ended within the headers'))
  }

  /** Consumes a piece of what is pending. @returns whether there may be more to do. */
  #step(give: (bytes: Buffer) => void): boolean {
    const framing = this.#framing
    switch (framing.kind) {
      case 'head':
        return this.#head()
      case 'close': {
        const bytes = this.#take(this.#pending.length)
        if (bytes.length > 0) give(bytes)
        return false
      }
      case 'length':
      case 'chunk': {
        const bytes = this.#take(Math.min(framing.left, this.#pending.length))
        framing.left -= bytes.length
        if (bytes.length > 0) give(bytes)
        if (framing.left > 0) return false
        if (framing.kind === 'chunk') this.#framing = { kind: 'size' }
        else this.exchange.finish(false)
        return framing.kind === 'chunk'
      }
      case 'size': {
        const line = this.#line()
        if (line === null) return false
        // The line end behind a chunk's data.
        if (line === '') return true
        const size = /^\s*([0-9a-f]{1,12})\s*(;|$)/i.exec(line)
        if (!size) this.exchange.finish(true)
        else {
          const left = Number.parseInt(size[1]!, 16)
          this.#framing = left === 0 ? { kind: 'trailer' } : { kind: 'chunk', left }
        }
        return true
      }
      case 'trailer': {
        const line = this.#line()
        if (line === '') this.exchange.finish(false)
        return line !== null
      }
    }
  }

  /** Reads the head once it is all there, 1xx heads included. */
  #head(): boolean {
    const end = headEnd(this.#pending)
    if (end < 0) {
      if (this.#pending.length > MAX_HEAD_BYTES)
        throw this.#malformed(`the headers are longer than ${MAX_HEAD_BYTES} bytes`)
      return false
    }
    const [statusLine = '', ...lines] = this.#take(end).toString('latin1').trim().split(/\r?\n/)
    const status = Number(/^\s*HTTP\/\d(?:\.\d)?\s+(\d{3})/i.exec(statusLine)?.[1] ?? 0)
    if (status < 100) throw this.#malformed('it begins with no HTTP status line')
    if (status < 200) return true
    const raw = headerPairs(lines)
    this.exchange.begin(status, raw)
    if (this.exchange.over) return false
    this.#framing = this.#framingOf(status)
    if (this.#framing.kind === 'length' && this.#framing.left === 0) this.exchange.finish(false)
    return true
  }

  #framingOf(status: number): Framing {
    const { headers } = this.exchange
    if (status === 204 || status === 304) return { kind: 'length', left: 0 }
    if (/\bchunked\b/i.test(headers['transfer-encoding'] ?? '')) return { kind: 'size' }
    const lengths = new Set((headers['content-length'] ?? '').split(',').map((length) => length.trim()))
    if (lengths.size > 1) throw this.#malformed(`Content-Length says both ${[...lengths].join(' and ')}`)
    const [length = ''] = lengths
    return /^\d{1,15}$/.test(length) ? { kind: 'length', left: Number(length) } : { kind: 'close' }
  }

  #take(count: number): Buffer {
    const taken = this.#pending.subarray(0, count)
    this.#pending = this.#pending.subarray(count)
    return taken
  }

  #line(): string | null {
    const end = this.#pending.indexOf(LF)
    if (end < 0) {
      if (this.#pending.length > MAX_HEAD_BYTES) this.exchange.finish(true)
      return null
    }
    return this.#take(end + 1)
      .toString('latin1')
      .replace(/\r?\n$/, '')
  }

  #malformed(fault: string): FetchFailure {
    return new FetchFailure('malformed_http', `${this.exchange.request.url.href}: ${fault}`)
  }
}

/** Offset behind the empty line that ends a head, or −1. Empty lines before the status line are part of the head. */
function headEnd(bytes: Buffer): number {
  let start = 0
  while (bytes[start] === LF || bytes[start] === 13) start++
  for (let at = bytes.indexOf(LF, start); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at + 1] === LF) return at + 2
    if (bytes[at + 1] === 13 && bytes[at + 2] === LF) return at + 3
  }
  return -1
}

/** Name-value list: a line without a colon is dropped, one that begins with white space continues the last. */
function headerPairs(lines: string[]): string[] {
  const pairs: string[] = []
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (/^[ \t]/.test(line) && pairs.length > 0) pairs.push(`${pairs.pop()} ${line.trim()}`)
    else if (colon > 0) pairs.push(line.slice(0, colon).trim(), line.slice(colon + 1).trim())
  }
  return pairs
}
