import { readFile } from 'node:fs/promises'
import type { LoadHook, ResolveHook } from 'node:module'
import { fileURLToPath } from 'node:url'
import { transform } from 'sucrase'

/** How the files of spiders in code are found and read: `orbweaver` is here, and the types of TypeScript are taken off. */
const OURS = 'orbweaver:spider'

export const resolve: ResolveHook = async (specifier, context, next) =>
  specifier === 'orbweaver' ? { url: OURS, format: 'module', shortCircuit: true } : next(specifier, context)

export const load: LoadHook = async (url, context, next) => {
  if (url === OURS)
    return { format: 'module', shortCircuit: true, source: 'export const defineSpider = (spider) => spider' }
  if (!/^file:.*\.m?ts$/.test(url)) return next(url, context)
  // Lines stay where they are, so that a fault is told at its line.
  const { code } = transform(await readFile(fileURLToPath(url), 'utf8'), {
    transforms: ['typescript'],
    disableESTransforms: true,
    filePath: fileURLToPath(url),
  })
  return { format: 'module', shortCircuit: true, source: code }
}
