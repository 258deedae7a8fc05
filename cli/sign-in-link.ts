import type { Command } from 'commander'
import { createSignInLink } from '../server/sign-in-link'
import { withServices } from './with-services'

/** `orbweaver sign-in-link`: the first way in, and the way back in when a password is lost. */
export function signInLinkCommand(program: Command): void {
  program
    .command('sign-in-link')
    .description('print a link that signs you in as the first administrator, once, within 24 hours')
    .action(() =>
      withServices('sign-in-link', async (services) => {
        process.stdout.write(`${await createSignInLink(services)}\n`)
      }),
    )
}
