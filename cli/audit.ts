import type { Command } from 'commander'
import { UserError } from '../core/errors'
import { auditRun } from '../server/services/audit-run'
import { listRuns } from '../server/services/runs'
import { numberIn } from './arguments'
import { withServices } from './with-services'

/** `orbweaver audit`: checks that a run's queue and record agree, and that no link was lost. */
export function auditCommand(program: Command): void {
  program
    .command('audit')
    .description('check a run: every URL counted once, every result stored, every link admitted')
    .argument(
      '[run]',
      'number of the run (default: the newest)',
      numberIn('The run', 1, Number.MAX_SAFE_INTEGER),
    )
    .action(async (given: number | undefined) => {
      const ok = await withServices('audit', async (services) => {
        const run = given ?? (await listRuns(services, { limit: 1 }))[0]?.id
        if (!run) throw new UserError('There is no run to audit yet; crawl something first.')
        const { ok, checks } = await auditRun(services, run)
        process.stdout.write(`Run ${run}\n`)
        for (const check of checks)
          process.stdout.write(`${check.ok ? 'ok       ' : 'VIOLATED '} ${check.name}: ${check.detail}\n`)
        return ok
      })
      if (!ok) process.exitCode = 1
    })
}
