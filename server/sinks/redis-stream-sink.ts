import { openRedis } from '../../core/redis'
import { type Sink, USUAL_BATCH } from './sink'

interface StreamSettings {
  url: string
  key: string
  maxLength?: number | undefined
}

/** An entry a record, in their order: `id`, and `item` with all of it as JSON. */
export function redisStreamSink({ url, key, maxLength }: StreamSettings): Sink {
  return {
    batch: USUAL_BATCH,
    async write(records) {
      const redis = await openRedis(url, 'command', "the sink's url")
      try {
        const batch = redis.multi()
        for (const record of records) {
          const fields = ['id', record.id, 'item', JSON.stringify(record)] as const
          if (maxLength === undefined) batch.xadd(key, '*', ...fields)
          else batch.xadd(key, 'MAXLEN', '~', maxLength, '*', ...fields)
        }
        const answers = await batch.exec()
        if (answers === null) throw new Error('Redis gave the batch up')
        for (const [error] of answers) if (error) throw error
        return []
      } finally {
        redis.disconnect()
      }
    },
  }
}
