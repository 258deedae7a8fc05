import { inTransaction } from '../../drizzle/database'
import type { Services } from '../context'
import { type Actor, recordChange } from './audit-log'
import { insertSeeds, refusal, SEED_CHUNK, type SeedInput, type SeedRow, toSeedRow } from './seed-rows'
import { getSpider } from './spiders'

export interface AddedSeeds {
  added: number
  /** There before, or twice among these. */
  known: number
  /** Those that can't be seeds, by their place among those given. */
  refused: { at: number; url: string; reason: string }[]
}

/**
 * Adds seeds to a spider; those that are there stay as they are, so a call that got no answer can be repeated.
 * @throws UserError when there is no such spider.
 */
export async function addSeeds(
  s: Services,
  input: { spider: number; seeds: readonly SeedInput[] },
  actor: Actor,
): Promise<AddedSeeds> {
  const spider = await getSpider(s, input.spider)
  const refused: AddedSeeds['refused'] = []
  const rows = new Map<string, SeedRow>()
  for (const [at, seed] of input.seeds.entries()) {
    try {
      const row = toSeedRow(seed)
      const key = row.hash.toString('hex')
      if (!rows.has(key)) rows.set(key, row)
    } catch (error) {
      refused.push({ at, url: seed.url, reason: refusal(error) })
    }
  }
  const all = [...rows.values()]
  let added = 0
  for (let from = 0; from < all.length; from += SEED_CHUNK)
    added += await insertSeeds(
      s.database.pool,
      { spiderId: spider.id, runId: 0 },
      all.slice(from, from + SEED_CHUNK),
    )
  const known = input.seeds.length - refused.length - added
  if (added > 0)
    await inTransaction(s.database.pool, (connection) =>
      recordChange(connection, actor, 'seeds.add', spider.name, { added, known, refused: refused.length }),
    )
  return { added, known, refused }
}
