import { desc, eq, getTableColumns } from 'drizzle-orm'
import { UserError } from '../../core/errors'
import { imports } from '../../drizzle/schema/crawl'
import type { Services } from '../context'
import { csvLine } from './csv-cells'

/** The newest imports of a spider, without their reports. */
export async function listImports(s: Services, spider: number, limit: number) {
  const { report: _, spiderId: __, ...columns } = getTableColumns(imports)
  return s.database.orm
    .select(columns)
    .from(imports)
    .where(eq(imports.spiderId, spider))
    .orderBy(desc(imports.id))
    .limit(limit)
}

/** The lines of an import that were rejected (the first thousand), as CSV. @throws UserError when there is no such import. */
export async function rejectedLines(s: Services, id: number): Promise<string> {
  const [row] = await s.database.orm
    .select({ report: imports.report })
    .from(imports)
    .where(eq(imports.id, id))
  if (!row) throw new UserError(`There is no import ${id}; the page of seeds lists those there are.`)
  return [['line', 'reason', 'text'], ...(row.report ?? []).map((one) => [one.line, one.reason, one.text])]
    .map(csvLine)
    .join('')
}
