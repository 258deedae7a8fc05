import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'

/** For tests: a proxy on loopback that notes where it was asked to lead, and leads to `onwards` whatever that was. */
export interface TestProxy {
  url: string
  port: number
  /** `address:port` of each way asked for, as it came: an address or a name. */
  asked: string[]
  close(): Promise<void>
}

const USER = 'me'
const PASSWORD = 'hush:hush'
export const PAIR = `${USER}:${encodeURIComponent(PASSWORD)}`

async function listening(server: net.Server, scheme: string, asked: string[]): Promise<TestProxy> {
  const sockets = new Set<net.Socket>()
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `${scheme}://${PAIR}@127.0.0.1:${port}`,
    port,
    asked,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function join(one: net.Socket, other: net.Socket): void {
  one.pipe(other).pipe(one)
  for (const socket of [one, other]) socket.on('error', () => [one, other].map((end) => end.destroy()))
}

/** One that speaks HTTP. `refuse`: the status with which it answers every CONNECT. */
export function httpProxy(onwards: number, refuse?: () => number | null): Promise<TestProxy> {
  const asked: string[] = []
  const server = http.createServer()
  server.on('connect', (request, socket: net.Socket, head: Buffer) => {
    const wanted = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`
    const status = request.headers['proxy-authorization'] === wanted ? (refuse?.() ?? null) : 407
    if (status !== null) return void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`)
    asked.push(request.url!)
    const on = net.connect(onwards, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      if (head.length > 0) on.write(head)
      join(socket, on)
    })
    on.on('error', () => socket.destroy())
  })
  return listening(server, 'http', asked)
}

/** One that speaks SOCKS 5 (RFC 1928, 1929), with user and password. `refuse`: its reply code. */
export function socksProxy(onwards: number, refuse = 0): Promise<TestProxy> {
  const asked: string[] = []
  const server = net.createServer(async (socket) => {
    const bytes = reader(socket)
    const [, methods] = await bytes(2)
    await bytes(methods!)
    socket.write(Buffer.from([5, 2]))
    const [, length] = await bytes(2)
    const user = (await bytes(length!)).toString()
    const [secret] = await bytes(1)
    const right = user === USER && (await bytes(secret!)).toString() === PASSWORD
    socket.write(Buffer.from([1, right ? 0 : 1]))
    if (!right) return socket.end()
    const [, , , kind] = await bytes(4)
    const host = kind === 1 ? [...(await bytes(4))].join('.') : (await bytes((await bytes(1))[0]!)).toString()
    asked.push(`${host}:${(await bytes(2)).readUInt16BE()}`)
    const answer = Buffer.from([5, refuse, 0, 1, 0, 0, 0, 0, 0, 0])
    if (refuse > 0) return socket.end(answer)
    const on = net.connect(onwards, '127.0.0.1', () => {
      socket.write(answer)
      join(socket, on)
    })
  })
  return listening(server, 'socks5', asked)
}

/** Reads so many bytes, and no more. */
function reader(socket: net.Socket): (many: number) => Promise<Buffer> {
  return async (many) => {
    for (;;) {
      if (many === 0) return Buffer.alloc(0)
      const found = socket.read(many) as Buffer | null
      if (found) return found
      await once(socket, 'readable')
    }
  }
}
