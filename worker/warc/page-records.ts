import type { Fetched } from '../fetch/fetcher'
import type { Headers } from '../fetch/headers'
import { type CdxLine, timestamp14 } from './cdxj'
import { requestBlock, responseBlock, responseHead } from './http-block'
import { base32, encodeRecord, recordId, sha1, type WarcRecord, warcDate } from './record'

/** The same content kept before, which is referred to and not kept again. */
export interface Original {
  url: string
  at: Date
}

export interface KeptPage {
  fetched: Fetched
  /** SHA-1 of the content. */
  digest: Buffer
  userAgent: string
  /** When the visit began. */
  at: Date
  depth: number
  referrer: string | undefined
  original?: Original | undefined
}

/** Records of one page as they go into the file, one after the other. */
export interface PageRecords {
  records: (WarcRecord & { cdx?: Omit<CdxLine, 'offset' | 'length' | 'file'> })[]
  /** Index of the record that holds the page's content. */
  main: number
}

interface Hop {
  url: string
  status: number
  headers: Headers
  body: Buffer
}

/**
 * What one visit saw: for each hop request and response, for the last one the metadata too. Where the content is that of
 * `original`, a revisit record takes the response's place (profile identical-payload-digest, WARC 1.1 §6.7.2, or
 * server-not-modified, §6.7.3, after a 304).
 */
export async function pageRecords(page: KeptPage): Promise<PageRecords> {
  const { fetched } = page
  const hops: Hop[] = [
    ...fetched.hops.map((hop) => ({ ...hop, body: Buffer.alloc(0) })),
    { url: fetched.finalUrl, status: fetched.status, headers: fetched.headers, body: fetched.body },
  ]
  const records: PageRecords['records'] = []
  let main = 0
  for (const [n, hop] of hops.entries()) {
    const last = n === hops.length - 1
    const responseId = recordId()
    const about = { 'WARC-Target-URI': hop.url, 'WARC-Date': warcDate(page.at) }
    const concurrent = { ...about, 'WARC-Concurrent-To': responseId }
    const http = (what: string) => ({ 'Content-Type': `application/http; msgtype=${what}` })
    records.push(
      await encodeRecord(
        'request',
        { ...concurrent, ...http('request') },
        requestBlock(hop.url, page.userAgent),
      ),
    )
    if (last) main = records.length
    records.push(await responseRecord(hop, responseId, { ...about, ...http('response') }, page, last))
    if (last)
      records.push(
        await encodeRecord(
          'metadata',
          { ...concurrent, 'Content-Type': 'application/warc-fields' },
          metadataBlock(page),
        ),
      )
  }
  return { records, main }
}

async function responseRecord(
  hop: Hop,
  id: string,
  about: Record<string, string>,
  page: KeptPage,
  last: boolean,
): Promise<PageRecords['records'][number]> {
  const digest = base32(last ? page.digest : sha1(hop.body))
  const original = last ? page.original : undefined
  const cut = last ? page.fetched.truncated : null
  const record = await encodeRecord(
    original ? 'revisit' : 'response',
    {
      'WARC-Record-ID': id,
      ...about,
      'WARC-Payload-Digest': `sha1:${digest}`,
      ...(cut && { 'WARC-Truncated': cut === 'cap' ? 'length' : 'disconnect' }),
      ...(original && {
        'WARC-Profile': `http://netpreserve.org/warc/1.1/revisit/${hop.status === 304 ? 'server-not-modified' : 'identical-payload-digest'}`,
        'WARC-Refers-To-Target-URI': original.url,
        'WARC-Refers-To-Date': warcDate(original.at),
      }),
    },
    original
      ? responseHead(hop.status, hop.headers, hop.body.length)
      : responseBlock(hop.status, hop.headers, hop.body),
  )
  const mime = original ? 'warc/revisit' : (hop.headers['content-type']?.split(';')[0]?.trim() ?? 'unk')
  return {
    ...record,
    cdx: {
      url: hop.url,
      timestamp: timestamp14(page.at),
      mime,
      status: hop.status,
      digest: `sha1:${digest}`,
    },
  }
}

function metadataBlock({ referrer, depth, fetched }: KeptPage): Buffer {
  const lines = [
    ...(referrer ? [`via: ${referrer}`] : []),
    `hopsFromSeed: ${depth}`,
    `fetchTimeMs: ${fetched.ms}`,
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n`)
}
