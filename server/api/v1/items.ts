import { z } from 'zod'
import { ITEM_FORMATS } from '../../services/item-file'
import { downloadItems } from '../item-download'
import { cursorOf, hash, id, limit, pageOf, toCursor, whole } from './fields'
import { fileOperation, operation } from './operation'

const item = z
  .object({
    hash: hash.describe('Of the page that it was taken from.'),
    n: z.number().int().describe('Its number on that page.'),
    url: z.string(),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Item' })

const tag = 'Items'
const path = { run: id }
const kind = z.string().min(1).max(64).describe('One of the kinds that the run takes.')

export const itemOperations = [
  operation({
    id: 'listItemKinds',
    route: 'GET /runs/{run}/items/kinds',
    tag,
    role: 'viewer',
    summary: 'The kinds of item that a run takes, each with its fields',
    path,
    output: pageOf(z.object({ name: z.string(), fields: z.array(z.string()) })),
    call: async (api, { run }) => whole(await api.items.kinds({ run })),
  }),
  operation({
    id: 'listItems',
    route: 'GET /runs/{run}/items',
    tag,
    role: 'viewer',
    summary: 'Items of a run, by page',
    path,
    query: {
      kind,
      search: z.string().trim().max(500).optional(),
      cursor: cursorOf(z.strictObject({ hash, n: z.number().int().min(0) })),
      limit: limit(),
    },
    output: pageOf(item),
    call: async (api, input) => {
      const { items, next } = await api.items.list(input)
      return { data: items, next: toCursor(next) }
    },
  }),
  fileOperation({
    id: 'downloadItems',
    route: 'GET /runs/{run}/items/file',
    tag,
    role: 'viewer',
    summary: 'Items of a run as a file',
    path,
    query: {
      kind,
      format: z.enum(Object.keys(ITEM_FORMATS) as [keyof typeof ITEM_FORMATS]),
      fields: z.string().max(20_000).optional().describe('Names with a comma between; absent: all.'),
      mark: z.enum(['1']).optional().describe('Begin CSV with a byte order mark, for spreadsheets.'),
    },
    files: { sent: Object.values(ITEM_FORMATS) },
    carryOut: (ctx, { run }, _, request) => downloadItems(ctx, request, run),
  }),
]
