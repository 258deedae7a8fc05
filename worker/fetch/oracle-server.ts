import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'

/** For tests: a server on loopback that answers each request head with whatever bytes a function writes. */
export interface OracleServer {
  /** `http://127.0.0.1:port` */
  origin: string
  port: number
  /** Request heads in order of arrival. */
  requests: string[]
  /** Connections accepted so far. */
  connections: () => number
  /** Connections open now. */
  open: () => number
  close(): Promise<void>
}

export type Respond = (socket: Socket, head: string, count: number) => void

/** Starts one; `respond` gets the socket, the request head and how many requests came before on all connections. */
export async function oracleServer(respond: Respond): Promise<OracleServer> {
  const sockets = new Set<Socket>()
  const requests: string[] = []
  let accepted = 0
  const server = net.createServer((socket) => {
    accepted++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // Clients that hang up early are what these servers are for.
    socket.on('error', () => {})
    let pending = ''
    socket.on('data', (chunk) => {
      pending += chunk.toString('latin1')
      for (let end = pending.indexOf('\r\n\r\n'); end >= 0; end = pending.indexOf('\r\n\r\n')) {
        const head = pending.slice(0, end)
        pending = pending.slice(end + 4)
        requests.push(head)
        respond(socket, head, requests.length - 1)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    requests,
    connections: () => accepted,
    open: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A well-formed answer with Content-Length. */
export function answer(body: Buffer | string, headers: Record<string, string> = {}, status = 200): Buffer {
  const bytes = Buffer.from(body)
  const lines = Object.entries({ 'Content-Type': 'text/html', 'Content-Length': bytes.length, ...headers })
  const head = [`HTTP/1.1 ${status} Because`, ...lines.map(([name, value]) => `${name}: ${value}`)]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), bytes])
}
