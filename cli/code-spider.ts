import { basename, dirname, extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { env, setEnv } from '../core/env'
import { UserError } from '../core/errors'
import type { Spider } from '../core/spider'
import { checkSpider } from '../core/spider-check'
import { CodeSpiders } from '../worker/code/code-spiders'
import { CodeUnusable } from '../worker/code/code-thread'
import { packageFile } from './package-file'

/** Whether a file holds a spider in code, by its ending. */
export const isCode = (file: string): boolean => /\.m?[tj]s$/.test(file)

/** The spiders in code of a folder; what they print goes to standard error. */
export function codeSpiders(folder = env().SPIDERS_DIR): CodeSpiders {
  return new CodeSpiders({
    folder,
    timeoutMs: env().CODE_TIMEOUT * 1000,
    program: pathToFileURL(packageFile('dist/code-thread.js')),
    print: (line) => process.stderr.write(`${line}\n`),
  })
}

/**
 * The spider of a file of code; its folder becomes SPIDERS_DIR of this process and of those that it starts.
 * @throws UserError naming the file and what is wrong with it.
 */
export async function readCodeSpider(file: string): Promise<Spider> {
  const folder = resolve(dirname(file))
  const name = basename(file, extname(file))
  const code = codeSpiders(folder)
  try {
    const definition = await code.definition(name)
    if (definition.name !== name)
      throw new UserError(
        `${file}: its name is ${JSON.stringify(definition.name)}; name it "${name}", as the file.`,
      )
    setEnv({ SPIDERS_DIR: folder })
    return checkSpider({ ...definition, code: name })
  } catch (error) {
    if (error instanceof CodeUnusable) throw new UserError(`${file}: ${error.message}`)
    throw error
  } finally {
    code.close()
  }
}
