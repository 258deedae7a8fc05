import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest('hex')
const hmac = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text).digest()

/**
 * A store that speaks as much of S3 as is used here, and believes nobody: it reckons each signature anew from the specification
 * (Signature Version 4, "Authenticating Requests: Using the Authorization Header"), and the hash of each body.
 */
export class ObjectServer {
  readonly objects = new Map<string, Buffer>()
  readonly buckets = new Set<string>()
  /** Answers 503 to everything while true. */
  down = false
  requests = 0
  url = ''
  readonly #server = createServer((request, response) => void this.#answer(request, response))

  private constructor(
    private readonly accessKey: string,
    private readonly secret: string,
    private readonly region: string,
  ) {}

  static async start(accessKey: string, secret: string, region = 'us-east-1'): Promise<ObjectServer> {
    const server = new ObjectServer(accessKey, secret, region)
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    server.url = `http://127.0.0.1:${(server.#server.address() as AddressInfo).port}`
    return server
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests++
    const body = Buffer.concat(await request.toArray())
    const refuse = (status: number, code: string, message: string) =>
      response
        .writeHead(status, { 'content-type': 'application/xml' })
        .end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`)
    if (this.down) return void refuse(503, 'SlowDown', 'Please reduce your request rate.')
    const fault = this.#fault(request, body)
    if (fault) return void refuse(...fault)
    const [, bucket, name] = /^\/([^/]+)\/?(.*)$/.exec(request.url!)!
    if (request.method === 'PUT' && !name) {
      this.buckets.add(bucket!)
      return void response.end()
    }
    if (!this.buckets.has(bucket!))
      return void refuse(404, 'NoSuchBucket', 'The specified bucket does not exist')
    if (request.method === 'PUT') {
      this.objects.set(name!, body)
      return void response.end()
    }
    const found = this.objects.get(name!)
    if (!found) return void refuse(404, 'NoSuchKey', 'The specified key does not exist.')
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    if (from === undefined) return void response.end(found)
    response.writeHead(206).end(found.subarray(Number(from), Number(to) + 1))
  }

  #fault(request: IncomingMessage, body: Buffer): [number, string, string] | undefined {
    const { headers } = request
    const given =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
        headers.authorization ?? '',
      )
    if (!given) return [403, 'AccessDenied', 'Access Denied']
    const [, key, day, region, names, signature] = given as unknown as [
      string,
      string,
      string,
      string,
      string,
      string,
    ]
    const time = String(headers['x-amz-date'])
    if (key !== this.accessKey)
      return [403, 'InvalidAccessKeyId', 'The access key you provided does not exist']
    if (region !== this.region || !time.startsWith(day))
      return [400, 'AuthorizationHeaderMalformed', 'The region is wrong']
    const at = Date.parse(time.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'))
    if (!(Math.abs(Date.now() - at) < 900_000)) return [403, 'RequestTimeTooSkewed', 'The clock is wrong']
    for (const needed of ['host', 'x-amz-content-sha256', 'x-amz-date'])
      if (!names.split(';').includes(needed)) return [403, 'AccessDenied', `${needed} is not signed`]
    const hash = String(headers['x-amz-content-sha256'])
    const [path, query = ''] = request.url!.split('?') as [string, string?]
    const lines = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`)
    const canonical = [request.method, path, query, lines.join(''), names, hash].join('\n')
    const scope = `${day}/${region}/s3/aws4_request`
    const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
    const signing = ['s3', 'aws4_request'].reduce(hmac, hmac(hmac(`AWS4${this.secret}`, day), region))
    if (hmac(signing, toSign).toString('hex') !== signature)
      return [403, 'SignatureDoesNotMatch', 'The request signature we calculated does not match']
    if (hash !== sha256(body))
      return [400, 'XAmzContentSHA256Mismatch', 'The bytes are not those that were signed']
    return undefined
  }
}
