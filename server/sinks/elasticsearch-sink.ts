import { postBatch } from './post-batch'
import { type Refused, type Sink, type SinkRecord, USUAL_BATCH } from './sink'

interface ElasticsearchSettings {
  url: string
  index: string
  user?: string | undefined
  password?: string | undefined
  apiKey?: string | undefined
  allowPrivate: boolean
}

interface BulkAnswer {
  errors: boolean
  items: { index: { _id: string; status: number; error?: { type?: string; reason?: string } } }[]
}

/** The document itself is at fault. All else that a line of an answer may say is the index's or the cluster's fault. */
const REFUSALS = [400, 413, 422]

/** Documents under the records' ids, so that a repetition changes nothing. Elasticsearch and OpenSearch alike. */
export function elasticsearchSink(settings: ElasticsearchSettings): Sink {
  const { url, index, user, password, apiKey, allowPrivate } = settings
  const headers: Record<string, string> = { 'content-type': 'application/x-ndjson' }
  if (apiKey !== undefined) headers.authorization = `ApiKey ${apiKey}`
  else if (user !== undefined)
    headers.authorization = `Basic ${Buffer.from(`${user}:${password ?? ''}`).toString('base64')}`
  const bulk = { url: new URL('_bulk', url.endsWith('/') ? url : `${url}/`).href, allowPrivate }
  const linesOf = ({ id, ...document }: SinkRecord) =>
    `${JSON.stringify({ index: { _index: index, _id: id } })}\n${JSON.stringify(document)}\n`
  return {
    batch: USUAL_BATCH,
    async write(records) {
      const answer = bulkAnswer(await postBatch(bulk, headers, records.map(linesOf).join('')))
      if (!answer.errors) return []
      const failed = answer.items.map((line) => line.index).filter(({ status }) => status >= 300)
      const away = failed.find(({ status }) => !REFUSALS.includes(status))
      if (away) throw new Error(reasonOf(away))
      return failed.map((one): Refused => ({ id: one._id, why: reasonOf(one) }))
    },
  }
}

const reasonOf = ({ status, error }: BulkAnswer['items'][number]['index']) =>
  `${status} ${error?.type ?? ''}: ${error?.reason ?? ''}`.slice(0, 300)

/** @throws Error for what is no answer of a bulk interface: the address is another's. */
function bulkAnswer(text: string): BulkAnswer {
  try {
    const answer = JSON.parse(text) as BulkAnswer
    if (typeof answer.errors === 'boolean' && Array.isArray(answer.items)) return answer
  } catch {}
  throw new Error(`it answers no bulk request, but says: ${text.slice(0, 200)}`)
}
