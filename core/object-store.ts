import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { AwsV4Signer } from 'aws4fetch'
import { type Dispatcher, request } from 'undici'
import { type Env, env } from './env'
import { Unavailable, UserError } from './errors'

/** What one PUT may hold, in any store that keeps to the protocol. */
const MOST_BYTES = 5 * 1024 ** 3
const CONNECT_AND_ANSWER_MS = 30_000
/** For what moves many bytes: no byte for so long. */
const SILENCE_MS = 60_000

/**
 * A bucket of a store that speaks S3 (https://docs.aws.amazon.com/AmazonS3/latest/API/), addressed by path, each request signed
 * (Signature Version 4).
 */
export class ObjectStore {
  constructor(
    private readonly endpoint: string,
    private readonly bucket: string,
    private readonly region: string,
    private readonly keys: { accessKeyId: string; secretAccessKey: string },
  ) {}

  /**
   * Stores a file, or these bytes, whole under `name`, or not at all: the store checks them against their SHA-256. The bucket is made
   * when it is missing. Repeating it changes nothing.
   * @param content path of a file, or bytes
   * @throws Unavailable when the store does not answer or refuses, with its words.
   */
  async put(name: string, content: string | Buffer): Promise<void> {
    const hash = createHash('sha256')
    if (typeof content === 'string') for await (const chunk of createReadStream(content)) hash.update(chunk)
    else hash.update(content)
    const sha256 = hash.digest('hex')
    const size = typeof content === 'string' ? (await stat(content)).size : content.length
    const put = () => this.#ask('PUT', `/${name}`, { sha256, size, content })
    const answer = await put()
    if (answer.statusCode !== 404) return refusedOr(answer, `PUT ${name}`)
    await answer.body.dump()
    await refusedOr(await this.#ask('PUT', '', {}), `making the bucket ${this.bucket}`)
    await refusedOr(await put(), `PUT ${name}`)
  }

  /** @returns `length` bytes from `offset` on, undefined when nothing has that name. @throws as `put`. */
  async range(name: string, offset: number, length: number): Promise<Buffer | undefined> {
    const range = `bytes=${offset}-${offset + length - 1}`
    const answer = await this.#ask('GET', `/${name}`, { range })
    if (answer.statusCode === 404) {
      await answer.body.dump()
      return undefined
    }
    if (answer.statusCode >= 400) await refusedOr(answer, `GET ${name}`)
    return Buffer.from(await answer.body.arrayBuffer())
  }

  async #ask(
    method: 'GET' | 'PUT',
    path: string,
    {
      sha256,
      size,
      content,
      range,
    }: { sha256?: string; size?: number; content?: string | Buffer; range?: string },
  ): Promise<Dispatcher.ResponseData> {
    const signed = await new AwsV4Signer({
      method,
      url: `${this.endpoint.replace(/\/$/, '')}/${this.bucket}${path}`,
      headers: {
        'x-amz-content-sha256': sha256 ?? createHash('sha256').digest('hex'),
        ...(range && { range }),
      },
      ...this.keys,
      region: this.region,
      service: 's3',
    }).sign()
    try {
      return await request(signed.url, {
        method,
        headers: {
          ...Object.fromEntries(signed.headers),
          ...(size !== undefined && { 'content-length': String(size) }),
        },
        body: typeof content === 'string' ? createReadStream(content) : (content ?? null),
        headersTimeout: content ? SILENCE_MS : CONNECT_AND_ANSWER_MS,
        bodyTimeout: SILENCE_MS,
      })
    } catch (error) {
      throw new Unavailable(
        `The object store at ${this.endpoint} does not answer (${(error as Error).message}); check S3_ENDPOINT, or the endpoint of the sink.`,
        { cause: error },
      )
    }
  }
}

async function refusedOr(answer: Dispatcher.ResponseData, what: string): Promise<void> {
  const text = await answer.body.text()
  if (answer.statusCode < 300) return
  const said = (tag: string) => new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(text)?.[1]
  throw new Unavailable(
    `The object store refuses ${what}: ${said('Code') ?? answer.statusCode} ${said('Message') ?? ''}; check bucket, region and keys.`,
  )
}

/** The store that the environment names; undefined for none. @throws UserError when only half of it is named. */
export function objectStore(from: Env = env()): ObjectStore | undefined {
  const { S3_ENDPOINT, S3_BUCKET, S3_REGION, S3_ACCESS_KEY, S3_SECRET_KEY } = from
  if (!S3_ENDPOINT) return undefined
  if (!S3_ACCESS_KEY || !S3_SECRET_KEY)
    throw new UserError('S3_ENDPOINT is set without its keys; set S3_ACCESS_KEY and S3_SECRET_KEY, too.')
  if (from.WARC_FILE_BYTES > MOST_BYTES)
    throw new UserError(
      'WARC_FILE_BYTES is more than an object store takes at once; set it to 5368709120 or less.',
    )
  return new ObjectStore(S3_ENDPOINT, S3_BUCKET, S3_REGION, {
    accessKeyId: S3_ACCESS_KEY,
    secretAccessKey: S3_SECRET_KEY,
  })
}
