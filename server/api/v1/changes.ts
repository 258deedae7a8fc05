import { z } from 'zod'
import { ACTIONS } from '../../services/audit-log'
import { cursorOf, id, instant, limit, pageOf, time, toCursor } from './fields'
import { operation } from './operation'

const text = z.string().trim().min(1).max(191)
const change = z
  .object({
    id,
    at: time,
    actor: z.string().describe('An e-mail address, an API key, or a process.'),
    action: z.string(),
    subject: z.string(),
    subjectName: z.string().nullable().describe('Where `subject` is an id: what people call it.'),
    detail: z.unknown(),
  })
  .meta({ id: 'Change' })

export const changeOperations = [
  operation({
    id: 'listChanges',
    route: 'GET /changes',
    tag: 'Changes',
    role: 'admin',
    summary: 'Who changed what, newest first',
    query: {
      actor: text.optional(),
      // Described as a text, since each release knows more of them; one that there is not is refused.
      action: z.string().pipe(z.enum(ACTIONS)).optional().describe('What was done, such as `run.start`.'),
      subject: text.optional(),
      from: instant.optional(),
      to: instant.optional().describe('Not included.'),
      cursor: cursorOf(z.strictObject({ at: z.number().int().min(0), id })),
      limit: limit(500),
    },
    output: pageOf(change),
    call: async (api, input) => {
      const { changes, next } = await api.changes.list(input)
      return { data: changes, next: toCursor(next) }
    },
  }),
]
