import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { ObjectStore } from '../../core/object-store'
import type { Sink, SinkRecord } from './sink'

interface S3Settings {
  endpoint: string
  bucket: string
  region: string
  accessKey: string
  secretKey: string
  prefix: string
  seconds: number
}

const compress = promisify(gzip)

/**
 * An object of JSON lines, compressed, for each spider in a batch. Its name follows from what is in it, so that a batch that comes
 * again becomes the same object.
 */
export function s3Sink(settings: S3Settings): Sink {
  const { endpoint, bucket, region, prefix } = settings
  const store = new ObjectStore(endpoint, bucket, region, {
    accessKeyId: settings.accessKey,
    secretAccessKey: settings.secretKey,
  })
  return {
    batch: { pages: 5000, items: 50_000, bytes: 8_000_000, seconds: settings.seconds },
    async write(records) {
      for (const spider of new Set(records.map((record) => record.spider))) {
        const some = records.filter((record) => record.spider === spider)
        await store.put(`${prefix}${spider}/${nameOf(some)}`, await linesOf(some))
      }
      return []
    },
  }
}

const linesOf = (records: SinkRecord[]) =>
  compress(records.map((record) => `${JSON.stringify(record)}\n`).join(''))

function nameOf(records: SinkRecord[]): string {
  const hash = createHash('sha256')
  for (const { id, fetchedAt } of records) hash.update(`${id} ${fetchedAt}\n`)
  const [day, time] = records[0]!.fetchedAt.split(/[T.]/)
  return `${day}/${time!.replaceAll(':', '')}-${hash.digest('hex').slice(0, 16)}.jsonl.gz`
}
