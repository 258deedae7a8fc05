import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { env } from '../../core/env'
import { packageFile } from '../package-file'

/** STATE_DIR, relative to the project and not to where the command was typed. */
export function stateFolder(): string {
  const folder = env().STATE_DIR
  return isAbsolute(folder) ? folder : packageFile(folder)
}

/**
 * Where unpacked packages of the distribution are kept: with the project when some are there, so that stacks in other
 * folders need not fetch them again, else with the state.
 */
export function packageFolder(): string {
  const common = packageFile('.orbweaver/packages')
  return existsSync(common) ? common : join(stateFolder(), 'packages')
}
