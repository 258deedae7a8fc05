import { z } from 'zod'
import { sentence } from './errors'
import type { NewTask } from './queue/task'
import { DEFAULT_SPIDER } from './spider'
import { hostKey, InvalidUrl, urlId, webUrl } from './url'

/**
 * The outside contract: what anyone may push to the inbox, in any language. A plain URL, or this as JSON.
 * Unknown members are refused, so that a misspelt `prioriy` is not silently lost.
 */
const payloadSchema = z.strictObject({
  url: z.string(),
  spider: z.string().default(DEFAULT_SPIDER.name),
  priority: z.number().int().min(-1000).max(1000).default(0),
  depth: z.number().int().min(0).max(10_000).default(0),
  meta: z.unknown().optional(),
})

/** Characters. */
export const LONGEST_ENTRY = 65_536

export interface InboxEntry {
  task: NewTask
  /** Name of the spider that it is for. */
  spider: string
}

/** An inbox entry as a task, or the sentence that says what is wrong with it. */
export function readEntry(entry: string): InboxEntry | string {
  if (entry.length > LONGEST_ENTRY)
    return `The entry has ${entry.length} characters; at most ${LONGEST_ENTRY} are taken.`
  const text = entry.trim()
  let payload: z.output<typeof payloadSchema>
  if (text.startsWith('{')) {
    let raw: unknown
    try {
      raw = JSON.parse(text)
    } catch (error) {
      return `The entry begins like JSON but is not (${sentence(error)}); push a plain URL or an object with url.`
    }
    const parsed = payloadSchema.safeParse(raw)
    if (!parsed.success) {
      const faults = parsed.error.issues.map(
        (issue) => `${issue.path.join('.') || 'entry'}: ${issue.message}`,
      )
      return `The entry is not usable (${faults.join('; ')}); push {"url", "spider"?, "priority"?, "depth"?, "meta"?}.`
    }
    payload = parsed.data
  } else {
    payload = payloadSchema.parse({ url: text })
  }
  try {
    const url = webUrl(payload.url)
    const task: NewTask = {
      url,
      id: urlId(url),
      host: hostKey(url),
      depth: payload.depth,
      priority: payload.priority,
    }
    if (payload.meta !== undefined) task.meta = JSON.stringify(payload.meta)
    return { task, spider: payload.spider }
  } catch (error) {
    if (error instanceof InvalidUrl) return error.message
    throw error
  }
}
