import { type Command, InvalidArgumentError, Option } from 'commander'
import { ROLES, type Role } from '../server/auth'
import { createKey } from '../server/services/api-keys'
import { withServices } from './with-services'

/** `orbweaver api-key`: a key for a program, made by whoever has the server. */
export function apiKeyCommand(program: Command): void {
  program
    .command('api-key')
    .description('make a key for a program and print it, the only time that it is shown')
    .argument('<name>', 'what the key is for; stands with the changes that it makes', keyName)
    .addOption(new Option('--role <role>', 'what it may do').choices(ROLES).default('viewer'))
    .option('--days <n>', 'days until it expires (default: never)', days)
    .action((name: string, options: { role: Role; days?: number }) =>
      withServices('api-key', async (services) => {
        const { key } = await createKey(services, { name, ...options }, 'cli')
        process.stdout.write(`${key}\n`)
      }),
    )
}

function keyName(text: string): string {
  const name = text.trim()
  if (name.length < 1 || name.length > 100) throw new InvalidArgumentError('Write 1 to 100 characters.')
  return name
}

function days(text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1 || value > 3650)
    throw new InvalidArgumentError('Write a whole number from 1 to 3650.')
  return value
}
