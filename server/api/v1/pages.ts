import { z } from 'zod'
import { OUTCOMES } from '../../../core/queue/states'
import { PAGE_FORMATS } from '../../services/page-file'
import { pageFilter } from '../../services/page-filter'
import { keptPage } from '../kept-page'
import { downloadPages } from '../page-download'
import { cursorOf, hash, id, limit, pageOf, time, toCursor } from './fields'
import { fileOperation, operation } from './operation'

const count = z.number().int()
const text = z.string().nullable()
const shared = {
  hash,
  url: z.string(),
  state: z.enum(OUTCOMES),
  reason: text.describe('Class of the error, such as `http_404`.'),
  detail: text,
  status: count.nullable(),
  title: text,
  depth: count.describe('Links away from the nearest seed.'),
  ms: count.nullable(),
  bytes: count.nullable(),
  attempts: count,
  fetchedAt: time,
}
const listed = z.object({ ...shared, items: count }).meta({ id: 'ListedPage' })
const page = z
  .object({
    ...shared,
    run: id,
    queue: z.string(),
    finalUrl: text,
    host: text,
    contentType: text,
    charset: text,
    flags: text,
    deliveries: count.describe('Times that a worker began it.'),
    again: z.boolean().describe('It waits for another try; all else tells of the time before.'),
    itemCount: count,
    items: z
      .array(z.object({ n: count, name: z.string(), data: z.record(z.string(), z.unknown()) }))
      .describe('The first twenty.'),
    referrers: z
      .array(z.object({ url: z.string(), hash: hash.nullable(), title: text, depth: count.nullable() }))
      .describe('The page that linked to it first, the one that linked to that, and so on to a seed.'),
  })
  .meta({ id: 'Page' })

const tag = 'Pages'
const path = { run: id }
const onePage = { run: id, hash }
const filter = pageFilter.shape

export const pageOperations = [
  operation({
    id: 'listPages',
    route: 'GET /runs/{run}/pages',
    tag,
    role: 'viewer',
    summary: 'Pages of a run that ended, newest first',
    path,
    query: {
      ...filter,
      cursor: cursorOf(
        z.union([z.strictObject({ at: count, items: count, hash }), z.strictObject({ hash })]),
      ),
      limit: limit(),
    },
    output: pageOf(listed),
    call: async (api, { run, cursor, limit, ...filter }) => {
      const { pages, next } = await api.runs.pages({ id: run, filter, cursor, limit })
      return { data: pages, next: toCursor(next) }
    },
  }),
  operation({
    id: 'countPages',
    route: 'GET /runs/{run}/pages/count',
    tag,
    role: 'viewer',
    summary: 'How many pages of a run answer to a filter',
    path,
    query: filter,
    output: z.object({
      count: count,
      whole: z.boolean().describe('False when counting took too long: then there are at least so many.'),
    }),
    call: async (api, { run, ...filter }) => {
      const { many, whole } = await api.runs.count({ id: run, filter })
      return { count: many, whole }
    },
  }),
  operation({
    id: 'readPageFacets',
    route: 'GET /runs/{run}/pages/facets',
    tag,
    role: 'viewer',
    summary: 'Hosts, statuses and classes of error that pages of a run have',
    path,
    output: z.object({ hosts: z.array(z.string()), statuses: z.array(count), reasons: z.array(z.string()) }),
    call: (api, { run }) => api.runs.facets({ id: run }),
  }),
  fileOperation({
    id: 'downloadPages',
    route: 'GET /runs/{run}/pages/file',
    tag,
    role: 'viewer',
    summary: 'Pages of a run that answer to a filter, as a file',
    path,
    query: { ...filter, format: z.enum(Object.keys(PAGE_FORMATS) as [keyof typeof PAGE_FORMATS]) },
    files: { sent: Object.values(PAGE_FORMATS) },
    carryOut: (ctx, { run }, _, request) => downloadPages(ctx, request, run),
  }),
  operation({
    id: 'readPage',
    route: 'GET /runs/{run}/pages/{hash}',
    tag,
    role: 'viewer',
    summary: 'One page with its items and the way that led to it',
    path: onePage,
    output: page,
    call: (api, { run, hash }) => api.runs.page({ id: run, hash }),
  }),
  operation({
    id: 'retryPage',
    route: 'POST /runs/{run}/pages/{hash}/retry',
    tag,
    role: 'operator',
    summary: 'Give one failed page another chance',
    path: onePage,
    once: true,
    output: z.object({ retried: count.describe('0 when it is not a failed page.') }),
    call: async (api, { run, hash }) => ({ retried: await api.runs.redrive({ id: run, hashes: [hash] }) }),
  }),
  fileOperation({
    id: 'readPageContent',
    route: 'GET /runs/{run}/pages/{hash}/content',
    tag,
    role: 'viewer',
    summary: 'A page as it was kept',
    description: 'Content of somebody else’s: hostile until shown otherwise.',
    path: onePage,
    files: { sent: ['text/html', 'text/plain', 'application/octet-stream'] },
    carryOut: (ctx, { run, hash }) => keptPage(ctx, { run: String(run), hash }),
  }),
]
