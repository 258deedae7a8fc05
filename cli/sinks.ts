import type { Command } from 'commander'
import { UserError } from '../core/errors'
import { readSinkLengths, replaySink, type SinkLength } from '../server/services/sinks'
import { readSinks } from '../server/sinks/read-sinks'
import { withServices } from './with-services'

/** `orbweaver sinks`: where items go besides the database, and what waits for it. */
export function sinksCommand(program: Command): void {
  const sinks = program
    .command('sinks')
    .description('show the sinks of SINKS_FILE, and how many pages wait for each or are refused by it')
    .action(async () => {
      const configured = await readSinks()
      const lengths = await withServices('sinks', readSinkLengths)
      const unnamed = lengths.filter(({ sink }) => !configured.has(sink)).map(({ sink }) => sink)
      if (configured.size + unnamed.length === 0)
        process.stdout.write('There are no sinks; SINKS_FILE names none.\n')
      for (const name of [...configured.keys(), ...unnamed]) {
        const length = lengths.find(({ sink }) => sink === name)
        process.stdout.write(
          `${name} (${configured.get(name)?.kind ?? 'not in SINKS_FILE'}): ${shown(length)}\n`,
        )
      }
    })
  sinks
    .command('replay')
    .description('give a sink again what it refused')
    .argument('<name>', 'the sink')
    .action(async (name: string) => {
      if (!(await readSinks()).has(name))
        throw new UserError(`SINKS_FILE names no sink "${name}"; add it there, or correct the name.`)
      const pages = await withServices('sinks', (services) => replaySink(services, name, 'cli'))
      process.stdout.write(`${pages} pages are given to ${name} again.\n`)
    })
}

function shown(length: SinkLength | undefined): string {
  if (!length) return 'nothing waits'
  const { waiting, oldestSeconds, detail, refused, refusal } = length
  const why = (text: string | null) => (text ? ` (${text})` : '')
  return [
    waiting > 0 ? `${waiting} pages wait, the first for ${oldestSeconds} s${why(detail)}` : 'nothing waits',
    ...(refused > 0 ? [`${refused} are refused${why(refusal)}`] : []),
  ].join(', ')
}
