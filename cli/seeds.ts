import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Command } from 'commander'
import { UserError } from '../core/errors'
import { DEFAULT_SPIDER } from '../core/spider'
import { importSeeds } from '../server/services/seeds'
import { ensureDefaultSpider } from '../server/services/spiders'
import { withServices } from './with-services'

/** Rejected lines that are shown; all of the first thousand are in the import's record. */
const SHOWN = 20

/** `orbweaver seeds import`: start URLs of a spider from a CSV file. */
export function seedsCommand(program: Command): void {
  program
    .command('seeds')
    .description('start URLs of spiders')
    .command('import')
    .description('read start URLs from a CSV file; bad lines are named and the rest is taken')
    .argument('<file>', 'CSV with a column url, and if wanted priority, depth, meta')
    .requiredOption('--spider <name>', 'the spider they are for')
    .action(async (file: string, options: { spider: string }) => {
      const there = await stat(file).catch(() => undefined)
      if (!there?.isFile()) throw new UserError(`There is no file ${file}; give the path of a CSV file.`)
      const report = await withServices('seeds', async (services) => {
        if (options.spider === DEFAULT_SPIDER.name) await ensureDefaultSpider(services)
        return importSeeds(services, {
          spider: options.spider,
          fileName: basename(file),
          stream: createReadStream(file),
          actor: 'cli',
        })
      })
      for (const { line, reason } of report.report.slice(0, SHOWN))
        process.stderr.write(`line ${line}: ${reason}\n`)
      if (report.rejected > SHOWN) process.stderr.write(`… and ${report.rejected - SHOWN} more\n`)
      process.stdout.write(
        `${report.rows} rows: ${report.accepted} accepted, ${report.duplicates} known already, ${report.rejected} rejected.\n`,
      )
      if (report.accepted + report.duplicates === 0) process.exitCode = 1
    })
}
