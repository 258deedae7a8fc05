import { z } from 'zod'
import { UserError } from '../../../core/errors'
import { BYTE_ORDER_MARK } from '../../services/csv-cells'
import { rejectedLines } from '../../services/import-list'
import { ENCODINGS } from '../../services/text-lines'
import { takeSeedFile } from '../seed-file'
import { cursorOf, id, limit, pageOf, spiderName, time, toCursor, whole } from './fields'
import { fileOperation, operation, proceduresFor } from './operation'
import { Problem } from './problem'
import { spiderId } from './spiders'

const seed = z
  .object({
    id,
    url: z.string(),
    priority: z.number().int(),
    depth: z.number().int(),
    meta: z.string().nullable().describe('JSON that came with the URL, as text.'),
    enabled: z.boolean(),
    createdAt: time.describe('Since when runs begin with it.'),
  })
  .meta({ id: 'Seed' })

const figures = {
  rows: z.number().int(),
  accepted: z.number().int(),
  duplicates: z.number().int(),
  rejected: z.number().int(),
}
const seedImport = z
  .object({
    id,
    fileName: z.string(),
    state: z.enum(['running', 'finished', 'failed']),
    ...figures,
    error: z.string().nullable(),
    author: z.string().nullable(),
    createdAt: time,
    finishedAt: time.nullable(),
  })
  .meta({ id: 'SeedImport' })

/** 10,000 URLs of an unusual length. */
export const MANY_URLS_BYTES = 16_777_216

const tag = 'Seeds'
const path = { spider: spiderName }
const ids = z.array(id).min(1).max(500)
const changed = z.object({ changed: z.number().int() })

export const seedOperations = [
  operation({
    id: 'listSeeds',
    route: 'GET /spiders/{spider}/seeds',
    tag,
    role: 'viewer',
    summary: 'Seeds of a spider, newest first',
    path,
    query: {
      search: z.string().trim().max(500).optional().describe('What stands somewhere in the URL.'),
      cursor: cursorOf(id),
      limit: limit(),
    },
    output: pageOf(seed),
    call: async (api, { spider, ...input }) => {
      const { seeds, next } = await api.seeds.list({ spider: await spiderId(api, spider), ...input })
      return { data: seeds, next: toCursor(next) }
    },
  }),
  operation({
    id: 'addSeeds',
    route: 'POST /spiders/{spider}/seeds',
    tag,
    role: 'operator',
    summary: 'Add up to 10,000 seeds',
    description: 'Seeds that are there stay as they are, so a call without an answer can be repeated.',
    path,
    body: z.strictObject({
      seeds: z
        .array(
          z.strictObject({
            url: z.string(),
            priority: z.number().int().optional().describe('−1000 to 1000; the highest goes first.'),
            depth: z
              .number()
              .int()
              .optional()
              .describe('Links that this URL already is away from its beginning.'),
            meta: z.unknown().optional().describe('Handed on to the items unread.'),
          }),
        )
        .min(1)
        .max(10_000),
    }),
    bodyBytes: MANY_URLS_BYTES,
    output: z.object({
      added: z.number().int(),
      known: z.number().int().describe('There before, or twice in this call.'),
      refused: z.array(
        z.object({
          at: z.number().int().describe('Place in `seeds`, from 0.'),
          url: z.string(),
          reason: z.string(),
        }),
      ),
    }),
    call: async (api, { spider }, { seeds }) => api.seeds.add({ spider: await spiderId(api, spider), seeds }),
  }),
  operation({
    id: 'countSeeds',
    route: 'GET /spiders/{spider}/seeds/count',
    tag,
    role: 'viewer',
    summary: 'How many seeds a spider has',
    path,
    output: z.object({ count: z.number().int() }),
    call: async (api, { spider }) => ({
      count: await api.seeds.count({ spider: await spiderId(api, spider) }),
    }),
  }),
  operation({
    id: 'enableSeeds',
    route: 'POST /spiders/{spider}/seeds/enable',
    tag,
    role: 'operator',
    summary: 'Put seeds to use or out of it',
    path,
    body: z.strictObject({ ids, enabled: z.boolean() }),
    output: changed,
    call: async (api, { spider }, body) => ({
      changed: await api.seeds.enable({ spider: await spiderId(api, spider), ...body }),
    }),
  }),
  operation({
    id: 'deleteSeeds',
    route: 'POST /spiders/{spider}/seeds/delete',
    tag,
    role: 'operator',
    summary: 'Remove seeds',
    path,
    body: z.strictObject({ ids }),
    output: changed,
    call: async (api, { spider }, body) => ({
      changed: await api.seeds.delete({ spider: await spiderId(api, spider), ...body }),
    }),
  }),
  fileOperation({
    id: 'importSeeds',
    route: 'POST /spiders/{spider}/seeds/file',
    tag,
    role: 'operator',
    summary: 'Import a file of seeds',
    description:
      'CSV, or one URL a line, of any size up to 4 GiB; encoding, delimiter and columns are found out. Needs Content-Length. Nothing of a file that is broken off is kept.',
    path,
    query: {
      fileName: z.string().min(1).max(255).default('seeds.csv'),
      wholeOnly: z.boolean().default(false).describe('One bad line, and nothing of the file is kept.'),
      encoding: z.enum(ENCODINGS).optional(),
    },
    files: { taken: 'application/octet-stream' },
    output: z.object({
      id,
      ...figures,
      kept: z.boolean(),
      report: z
        .array(z.object({ line: z.number().int(), text: z.string(), reason: z.string() }))
        .describe('The first thousand rejected lines.'),
    }),
    carryOut: async (ctx, { spider, ...choice }, _, request) => {
      const length = Number(request.headers.get('content-length') ?? Number.NaN)
      if (!(length >= 0))
        throw new Problem(411, 'length', 'The request has no Content-Length; send the size of the file.')
      if (length > MOST_FILE_BYTES)
        throw new Problem(413, 'body_size', `The file is over ${MOST_FILE_BYTES} bytes; send it in parts.`)
      return takeSeedFile(ctx, request, { spider: await spiderId(proceduresFor(ctx), spider), ...choice })
    },
  }),
  operation({
    id: 'listImports',
    route: 'GET /spiders/{spider}/imports',
    tag,
    role: 'viewer',
    summary: 'The newest imports of a spider',
    path,
    query: { limit: limit(100, 10) },
    output: pageOf(seedImport),
    call: async (api, { spider, limit }) =>
      whole(await api.seeds.imports({ spider: await spiderId(api, spider), limit })),
  }),
  fileOperation({
    id: 'readRejectedLines',
    route: 'GET /imports/{import}/rejected',
    tag,
    role: 'viewer',
    summary: 'Lines of an import that were rejected, as CSV',
    path: { import: id },
    files: { sent: ['text/csv'] },
    carryOut: async (ctx, input) =>
      new Response(BYTE_ORDER_MARK + (await linesOf(ctx.services, input.import)), {
        headers: { 'content-type': 'text/csv; charset=utf-8', 'cache-control': 'no-store' },
      }),
  }),
]

const MOST_FILE_BYTES = 4_294_967_296

async function linesOf(...asked: Parameters<typeof rejectedLines>): Promise<string> {
  try {
    return await rejectedLines(...asked)
  } catch (error) {
    if (error instanceof UserError) throw new Problem(404, 'import_unknown', error.message)
    throw error
  }
}
