import { z } from 'zod'

/** What the schemas of several operations are made of. */
export const id = z.number().int().positive()
export const limit = (most = 200, usual = 50) =>
  z.number().int().min(1).max(most).default(usual).describe('Most entries of one answer.')
export const hash = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256 of the canonical URL, as hex.')
export const queueName = z.string().min(1).max(64)
export const spiderName = z.string().min(1).max(64)
export const url = z.string().trim().min(1).max(8192)

/** ms since 1970 as the procedures have it; ISO 8601 in UTC as the API says it. */
export const time = z
  .number()
  .transform((ms) => new Date(ms).toISOString())
  .pipe(z.iso.datetime())

/** ISO 8601 as the API takes it; ms since 1970 as the procedures do. */
export const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))

const LONGEST_CURSOR = 4096

/** Where a list goes on: what its answer had as `next`, which means something to this list alone. */
export const cursorOf = <C extends z.ZodType>(position: C) =>
  z
    .string()
    .min(1)
    .max(LONGEST_CURSOR)
    .transform((text, context) => {
      try {
        return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as unknown
      } catch {
        context.addIssue({
          code: 'custom',
          message: 'is no place in this list; take `next` of its last answer',
        })
        return z.NEVER
      }
    })
    .pipe(position)
    .optional()
    .describe('`next` of the answer before; absent for the first one.')

export const toCursor = (position: unknown): string | null =>
  position === null || position === undefined
    ? null
    : Buffer.from(JSON.stringify(position)).toString('base64url')

/** The answer of every list. */
export const pageOf = <T extends z.ZodType>(one: T) =>
  z.object({
    data: z.array(one),
    next: z
      .string()
      .nullable()
      .describe(
        'Send it as `cursor` to go on; null at the end. A search may have it with fewer entries than `limit`, or none.',
      ),
  })

/** The answer of a list that is short enough to be whole. */
export const whole = <T>(data: T[]) => ({ data, next: null })
