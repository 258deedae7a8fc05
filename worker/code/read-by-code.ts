import type { Lease, NewTask } from '../../core/queue/task'
import { tryWebUrl } from '../../core/url'
import { decodeHtml, decodeJson, decodeXml } from '../fetch/charset'
import { documentType } from '../fetch/document-type'
import type { Fetched } from '../fetch/fetcher'
import type { KnownLinks } from '../known-links'
import { linkTask, pageLinks } from '../page-links'
import type { ReadDocument } from '../read-document'
import type { CrawlRun } from '../run-cache'
import type { CodeSpiders } from './code-spiders'

type Items = { name: string; data: Record<string, unknown> }[]

/**
 * What the code of a spider adds to what its rules took of a page.
 * @throws CodeFailure when the code fails on the page; CodeUnusable when there is no code to be had.
 */
export async function readByCode(
  name: string,
  fetched: Fetched,
  read: ReadDocument,
  lease: Lease,
  run: CrawlRun,
  { code, known }: { code: CodeSpiders; known: KnownLinks },
): Promise<{ items: Items; links: NewTask[] }> {
  const { finalUrl, status, headers, contentType, body } = fetched
  const type = documentType(body, contentType)
  const decode = type === 'xml' ? decodeXml : type === 'json' ? decodeJson : decodeHtml
  const taken = await code.parse(name, {
    url: finalUrl,
    requested: lease.url,
    status,
    headers: { ...headers },
    contentType,
    text: decode(body, contentType).text,
    depth: lease.depth,
    referrer: lease.referrer ?? null,
    meta: lease.meta ?? null,
    title: read.content?.title ?? null,
    links: read.content?.links ?? [],
    items: read.content?.items ?? [],
  })
  const follow = taken.follow.flatMap((url) => tryWebUrl(url) ?? [])
  const requests = taken.requests.flatMap(({ url, priority, meta }) => {
    const web = tryWebUrl(url)
    if (web === null) return []
    const more = { priority: priority ?? undefined, meta: meta ?? undefined }
    return [linkTask(web, lease.depth + 1, lease, run, more)]
  })
  return {
    items: taken.items,
    links: unique([...requests, ...pageLinks(follow, finalUrl, lease, run, known), ...read.links]),
  }
}

/** The first of each; a request of the code goes before the same URL as a link. */
function unique(links: NewTask[]): NewTask[] {
  const seen = new Set<string>()
  return links.filter(({ id }) => !seen.has(id) && seen.add(id))
}
