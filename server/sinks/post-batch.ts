import { sentence } from '../../core/errors'
import { type PostAnswer, postOnce } from '../post-once'
import { SinkBusy, SinkFailure, SinkRefusal } from './sink'

const TIMEOUT_MS = 30_000
/** The answer to a batch names each of its items. */
const MOST_CHARACTERS = 10_000_000
/** A Retry-After of more counts as this, in milliseconds. */
const LONGEST_WAIT_MS = 3_600_000

/** Too large, malformed, unprocessable: smaller or other batches may pass. */
const REFUSALS = [400, 413, 415, 422]
/** Keys are put right, paths are served again, proxies find their server. */
const AWAY = [401, 403, 404, 405, 408, 429, 502, 503, 504]
/** The connection stood, and then the sink failed. */
const BROKE = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']

/**
 * Posts a batch, and answers with the body of a 2xx.
 * @throws as `Sink.write`.
 */
export async function postBatch(
  { url, allowPrivate }: { url: string; allowPrivate: boolean },
  headers: Record<string, string>,
  body: string,
): Promise<string> {
  let answer: PostAnswer
  try {
    answer = await postOnce(
      { url, headers: { 'user-agent': 'Orbweaver sinks', ...headers }, body },
      {
        allowPrivate,
        remedy: 'set allowPrivate: true for the sink if that is meant.',
        timeoutMs: TIMEOUT_MS,
        most: MOST_CHARACTERS,
      },
    )
  } catch (error) {
    const { code, name } = error as { code?: string; name?: string }
    if (name === 'TimeoutError' || BROKE.includes(code ?? '')) throw new SinkFailure(sentence(error))
    throw error
  }
  const { status } = answer
  if (status >= 200 && status < 300) return answer.body
  const said = `HTTP ${status}: ${answer.body.slice(0, 300)}`
  const after = Number(answer.headers['retry-after'])
  if (after > 0) throw new SinkBusy(said, Math.min(after * 1000, LONGEST_WAIT_MS))
  if (REFUSALS.includes(status)) throw new SinkRefusal(said)
  if (AWAY.includes(status) || status < 400) throw new Error(said)
  throw new SinkFailure(said)
}
