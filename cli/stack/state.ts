import { isAbsolute, join } from 'node:path'
import { env } from '../../core/env'
import { packageFile } from '../package-file'

/** STATE_DIR, relative to the project and not to where the command was typed. */
export function stateFolder(): string {
  const folder = env().STATE_DIR
  return isAbsolute(folder) ? folder : packageFile(folder)
}

/** Where unpacked packages of the distribution are kept. */
export const packageFolder = () => join(stateFolder(), 'packages')
