import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { readJson, writePrivately } from './private-file'

const schema = z.object({
  redisPassword: z.string().min(32),
  databasePassword: z.string().min(32),
  authSecret: z.string().min(32),
})
export type Secrets = z.infer<typeof schema>

/** The secrets of the embedded stack: made on first use, kept in `secrets.json`, readable by their owner alone. */
export async function stackSecrets(stateDir: string): Promise<Secrets> {
  const file = join(stateDir, 'secrets.json')
  const kept = schema.safeParse(await readJson(file))
  if (kept.success) return kept.data
  const secret = () => randomBytes(32).toString('hex')
  const made = { redisPassword: secret(), databasePassword: secret(), authSecret: secret() }
  await writePrivately(file, JSON.stringify(made, null, 2))
  return made
}
