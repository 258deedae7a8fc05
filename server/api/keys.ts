import { z } from 'zod'
import { ROLES } from '../auth'
import { createKey, listKeys, revokeKey } from '../services/api-keys'
import { adminProcedure, router } from './trpc'

export const keysRouter = router({
  /** API keys, newest first, without what is secret. */
  list: adminProcedure.query(async ({ ctx }) =>
    (await listKeys(ctx.services)).map((key) => ({
      ...key,
      createdAt: key.createdAt.getTime(),
      expiresAt: key.expiresAt?.getTime() ?? null,
      revokedAt: key.revokedAt?.getTime() ?? null,
      lastUsedAt: key.lastUsedAt?.getTime() ?? null,
    })),
  ),

  /** Answers with the key, the only time that it is shown. */
  create: adminProcedure
    .input(
      z.strictObject({
        name: z.string().trim().min(1).max(100),
        role: z.enum(ROLES),
        /** Days until it expires; absent: never. */
        days: z.number().int().min(1).max(3650).optional(),
      }),
    )
    .mutation(({ ctx, input }) => createKey(ctx.services, input, ctx.person.email)),

  revoke: adminProcedure
    .input(z.strictObject({ id: z.string().regex(/^[0-9a-f]{12}$/) }))
    .mutation(({ ctx, input }) => revokeKey(ctx.services, input.id, ctx.person.email)),
})
