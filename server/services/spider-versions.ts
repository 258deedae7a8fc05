import { and, desc, eq, lt } from 'drizzle-orm'
import { UserError } from '../../core/errors'
import type { Spider } from '../../core/spider'
import { spiderVersions } from '../../drizzle/schema/crawl'
import type { Services } from '../context'

/** Versions of a spider, newest first, without their definitions; `before` is the last one seen. */
export async function listVersions(
  s: Services,
  { spider, before, limit }: { spider: number; before?: number | undefined; limit: number },
) {
  return s.database.orm
    .select({
      version: spiderVersions.version,
      author: spiderVersions.author,
      createdAt: spiderVersions.createdAt,
    })
    .from(spiderVersions)
    .where(
      and(
        eq(spiderVersions.spiderId, spider),
        before === undefined ? undefined : lt(spiderVersions.version, before),
      ),
    )
    .orderBy(desc(spiderVersions.version))
    .limit(limit)
}

/** What a spider was at a version. @throws UserError when there is none of that number. */
export async function getVersion(s: Services, spider: number, version: number): Promise<Spider> {
  const [row] = await s.database.orm
    .select({ definition: spiderVersions.definition })
    .from(spiderVersions)
    .where(and(eq(spiderVersions.spiderId, spider), eq(spiderVersions.version, version)))
  if (!row)
    throw new UserError(`There is no version ${version} of this spider; its list shows those there are.`)
  return row.definition
}
