import { signBody } from '../sign-body'
import { postBatch } from './post-batch'
import { type Sink, USUAL_BATCH } from './sink'

interface WebhookSettings {
  url: string
  secret: string
  items: number
  seconds: number
  allowPrivate: boolean
}

/** A POST of `{sink, items}` as JSON, signed as the webhooks of alerts are. */
export function webhookSink(name: string, settings: WebhookSettings): Sink {
  return {
    batch: { ...USUAL_BATCH, items: settings.items, seconds: settings.seconds },
    async write(items) {
      const body = JSON.stringify({ sink: name, items })
      await postBatch(
        settings,
        {
          'content-type': 'application/json; charset=utf-8',
          'x-orbweaver-signature': signBody(settings.secret, body, Date.now()),
        },
        body,
      )
      return []
    },
  }
}
