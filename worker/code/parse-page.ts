import type { CodeSpider } from './define-spider'
import type { PageInput, Taken } from './messages'
import { openPage } from './open-page'

/**
 * What a spider's code takes of a page, for its tests: in this process, without time limit, worker or rules.
 * @param page what differs from an HTML page that was fetched from `url` with status 200
 */
export async function parsePage(
  spider: CodeSpider,
  { meta, ...page }: Pick<PageInput, 'url' | 'text'> & Partial<Omit<PageInput, 'meta'>> & { meta?: unknown },
): Promise<Taken> {
  const { page: opened, taken } = openPage({
    requested: page.url,
    status: 200,
    headers: {},
    contentType: 'text/html',
    depth: 0,
    referrer: null,
    title: null,
    links: [],
    items: [],
    ...page,
    meta: meta === undefined ? null : JSON.stringify(meta),
  })
  await spider.parse(opened)
  return taken
}
