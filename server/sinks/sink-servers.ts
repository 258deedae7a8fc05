import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { SinkRecord } from './sink'

export const SECRET = 'of-this-test-run-only'

interface Reply {
  status: number
  body?: string
  headers?: Record<string, string>
}

/** What a stand-in does with a request. Undefined: as its manual says; `never`: it does not answer at all. */
type Answer = Reply | 'never' | undefined
type Fault = (items: SinkRecord[]) => Answer | Promise<Answer>

/**
 * A receiver of webhooks that checks signatures, and beside it the bulk interface of a search engine as Elasticsearch's manual
 * has it: a line of the answer for each document, a mapping that takes numbers alone as `price`, and the id as the key.
 */
export async function startSinkServer() {
  const state: { fault: Fault } = { fault: () => undefined }
  /** Items that were taken, in their order; and those of each request, taken or not. */
  const taken: SinkRecord[] = []
  const requests: SinkRecord[][] = []
  const documents = new Map<string, Record<string, unknown>>()

  const server = createServer(async (request, answer) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const { url, headers } = request
    const bulk = url === '/search/_bulk'
    const items = bulk ? documentsOf(body) : (JSON.parse(body) as { items: SinkRecord[] }).items
    requests.push(items)
    const fault = await state.fault(items)
    if (fault === 'never') return
    const reply = fault ?? (bulk ? index(headers, items) : take(headers, body, items))
    answer.writeHead(reply.status, reply.headers).end(reply.body ?? '')
  })

  function take(headers: NodeJS.Dict<string | string[]>, body: string, items: SinkRecord[]): Reply {
    const [, time, mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-orbweaver-signature'])) ?? []
    const wanted = createHmac('sha256', SECRET).update(`${time}.${body}`).digest('hex')
    if (mac !== wanted || Math.abs(Date.now() / 1000 - Number(time)) > 300)
      return { status: 401, body: 'bad signature' }
    taken.push(...items)
    return { status: 204 }
  }

  function index(headers: NodeJS.Dict<string | string[]>, items: SinkRecord[]): Reply {
    if (headers.authorization !== `Basic ${btoa('elastic:changeme')}`) return { status: 401 }
    const lines = items.map(({ id, ...document }) => {
      const { price } = document.data
      if (price !== undefined && typeof price !== 'number')
        return {
          index: {
            _id: id,
            status: 400,
            error: { type: 'mapper_parsing_exception', reason: 'failed to parse field [data.price]' },
          },
        }
      const created = !documents.has(id)
      documents.set(id, document)
      return { index: { _id: id, status: created ? 201 : 200 } }
    })
    const errors = lines.some((line) => line.index.status >= 300)
    return { status: 200, body: JSON.stringify({ took: 3, errors, items: lines }) }
  }

  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    state,
    taken,
    requests,
    documents,
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function documentsOf(body: string): SinkRecord[] {
  if (!body.endsWith('\n')) throw new Error('the last line must end')
  const lines = body.slice(0, -1).split('\n')
  return lines
    .filter((_, n) => n % 2 === 0)
    .map((line, n) => {
      const { index } = JSON.parse(line) as { index: { _id: string } }
      return { ...JSON.parse(lines[2 * n + 1]!), id: index._id }
    })
}
