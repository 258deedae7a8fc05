import { elasticsearchSink } from './elasticsearch-sink'
import { fileSink } from './file-sink'
import type { SinkSettings } from './read-sinks'
import { redisStreamSink } from './redis-stream-sink'
import { s3Sink } from './s3-sink'
import type { Sink } from './sink'
import { webhookSink } from './webhook-sink'

export function openSink(name: string, settings: SinkSettings): Sink {
  switch (settings.kind) {
    case 'jsonl':
    case 'csv':
      return fileSink(settings)
    case 'webhook':
      return webhookSink(name, settings)
    case 'elasticsearch':
      return elasticsearchSink(settings)
    case 'redis-stream':
      return redisStreamSink(settings)
    case 's3':
      return s3Sink(settings)
  }
}
