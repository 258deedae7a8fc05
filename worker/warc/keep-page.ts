import type { OutcomeState } from '../../core/queue/states'
import type { Spider } from '../../core/spider'
import { type KeptPage, type PageRecords, pageRecords } from './page-records'
import type { WarcLocation } from './warc-files'

/** What the spider's run before this one has of the same URL. */
export interface PreviousPage {
  digest: Buffer | null
  finalUrl: string | null
  fetchedAt: Date
  warc: WarcLocation | null
}

export interface Keeping {
  /** Records to write before the row is stored; null when there is nothing to write. */
  archive: PageRecords | null
  /** Where the content is kept already. */
  warc: WarcLocation | null
}

export const NOTHING_KEPT: Keeping = { archive: null, warc: null }

/**
 * What is kept of a page that was answered:
 *
 * | `keep`    | kept                                                                                      |
 * |-----------|-------------------------------------------------------------------------------------------|
 * | `none`    | nothing                                                                                   |
 * | `errors`  | pages that are not done                                                                   |
 * | `changed` | pages whose content is not that of the spider's run before                                |
 * | `all`     | every page; the content that the run before has kept is referred to, and not written again |
 */
export async function keepPage(
  keep: Spider['keep'],
  state: OutcomeState,
  page: KeptPage,
  previous: () => Promise<PreviousPage | null>,
): Promise<Keeping> {
  if (keep === 'none' || (keep === 'errors' && state === 'done')) return NOTHING_KEPT
  const before = keep === 'errors' ? null : await previous()
  const same = before?.digest?.equals(page.digest) ? before : null
  if (same && keep === 'changed') return { archive: null, warc: same.warc }
  const original = same?.warc
    ? { url: same.finalUrl ?? page.fetched.finalUrl, at: same.fetchedAt }
    : undefined
  return { archive: await pageRecords({ ...page, original }), warc: original ? same!.warc : null }
}
