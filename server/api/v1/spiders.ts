import { TRPCError } from '@trpc/server'
import { z } from 'zod'
import { CREDENTIAL_KINDS } from '../../../core/credentials'
import { credentialsSchema } from '../../services/credentials'
import { cursorOf, id, limit, pageOf, spiderName, time, toCursor, whole } from './fields'
import { operation, type Procedures } from './operation'

const definition = z
  .record(z.string(), z.unknown())
  .describe(
    'What to crawl and what to take from it, as docs/spiders.md describes; what is left out has its default.',
  )

const spider = z
  .object({ id, name: z.string(), version: z.number().int(), definition })
  .meta({ id: 'Spider' })
const listed = z
  .object({ id, name: z.string(), version: z.number().int(), updatedAt: time })
  .meta({ id: 'ListedSpider' })
const version = z
  .object({ version: z.number().int(), author: z.string().nullable(), createdAt: time })
  .meta({ id: 'SpiderVersion' })

const origin = z.string().trim().min(1).max(2000)
const signIn = z
  .object({
    origin: z.string(),
    kind: z.enum(CREDENTIAL_KINDS),
    shown: z.string().describe('The user, or the names of the headers; never a secret.'),
    author: z.string(),
    updatedAt: time,
  })
  .meta({ id: 'SignIn' })

/** The number that procedures know a spider by. @throws TRPCError NOT_FOUND */
export const spiderId = async (procedures: Procedures, name: string) =>
  (await procedures.spiders.get({ name })).id

const tag = 'Spiders'
const path = { spider: spiderName }

export const spiderOperations = [
  operation({
    id: 'listSpiders',
    route: 'GET /spiders',
    tag,
    role: 'viewer',
    summary: 'All spiders, by name',
    output: pageOf(listed),
    call: async (api) => whole(await api.spiders.list()),
  }),
  operation({
    id: 'createSpider',
    route: 'POST /spiders',
    tag,
    role: 'operator',
    summary: 'Make a spider',
    description: 'Answers 409 when there is one of that name.',
    body: z.strictObject({ definition }),
    once: true,
    status: 201,
    output: spider,
    call: (api, _, { definition }) => api.spiders.save({ definition, from: 0 }),
  }),
  operation({
    id: 'checkSpider',
    route: 'POST /spiders/check',
    tag,
    role: 'operator',
    summary: 'Every fault of a definition, without saving it',
    body: z.strictObject({ definition }),
    output: z.object({
      faults: z
        .array(z.string())
        .describe('Each begins with its place; empty when the definition can be used.'),
      definition: definition.nullable().describe('With all defaults filled in; null when there are faults.'),
    }),
    call: (api, _, body) => api.spiders.check(body),
  }),
  operation({
    id: 'readSpider',
    route: 'GET /spiders/{spider}',
    tag,
    role: 'viewer',
    summary: 'One spider',
    path,
    output: spider,
    call: (api, { spider }) => api.spiders.get({ name: spider }),
  }),
  operation({
    id: 'changeSpider',
    route: 'PUT /spiders/{spider}',
    tag,
    role: 'operator',
    summary: 'Replace what a spider does',
    description: 'An unchanged definition makes no new version. Runs under way keep the one they began with.',
    path,
    body: z.strictObject({
      definition,
      version: z
        .number()
        .int()
        .min(1)
        .optional()
        .describe(
          'The version that was changed. When it is another meanwhile the answer is 409; absent: whatever is there is replaced.',
        ),
    }),
    output: spider,
    call: async (api, { spider }, { definition, version }) => {
      if (definition.name !== undefined && definition.name !== spider)
        throw new TRPCError({
          code: 'UNPROCESSABLE_CONTENT',
          message: `The definition has another name than ${spider}, and a spider keeps its name; make a new one.`,
        })
      const before = await api.spiders.get({ name: spider })
      return api.spiders.save({
        definition: { ...definition, name: spider },
        from: version ?? before.version,
      })
    },
  }),
  operation({
    id: 'listSpiderVersions',
    route: 'GET /spiders/{spider}/versions',
    tag,
    role: 'viewer',
    summary: 'Versions of a spider, newest first',
    path,
    query: { cursor: cursorOf(id), limit: limit(100) },
    output: pageOf(version),
    call: async (api, { spider, ...page }) => {
      const { versions, next } = await api.spiders.versions({ spider: await spiderId(api, spider), ...page })
      return { data: versions, next: toCursor(next) }
    },
  }),
  operation({
    id: 'readSpiderVersion',
    route: 'GET /spiders/{spider}/versions/{version}',
    tag,
    role: 'viewer',
    summary: 'What a spider was at a version',
    path: { ...path, version: id },
    output: z.object({ version: z.number().int(), definition }),
    call: async (api, { spider, version }) => ({
      version,
      definition: await api.spiders.version({ spider: await spiderId(api, spider), version }),
    }),
  }),
  operation({
    id: 'listSignIns',
    route: 'GET /spiders/{spider}/sign-ins',
    tag,
    role: 'viewer',
    summary: 'Where a spider signs in',
    path,
    output: pageOf(signIn),
    call: async (api, { spider }) =>
      whole(await api.spiders.credentials({ spider: await spiderId(api, spider) })),
  }),
  operation({
    id: 'setSignIn',
    route: 'PUT /spiders/{spider}/sign-ins',
    tag,
    role: 'operator',
    summary: 'Let a spider sign in at a site',
    description:
      'It replaces what was there. It is encrypted, sent to this one site and nowhere else, and never told again.',
    path,
    body: z.strictObject({
      origin: origin.describe('Such as `https://example.com`.'),
      credentials: credentialsSchema,
    }),
    call: async (api, { spider }, body) =>
      api.spiders.saveCredentials({
        ...body,
        credentials: { ...body.credentials },
        spider: await spiderId(api, spider),
      }),
  }),
  operation({
    id: 'removeSignIn',
    route: 'DELETE /spiders/{spider}/sign-ins',
    tag,
    role: 'operator',
    summary: 'Let a spider no longer sign in at a site',
    path,
    query: { origin },
    call: async (api, { spider, origin }) =>
      api.spiders.removeCredentials({ spider: await spiderId(api, spider), origin }),
  }),
]
