import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The text of `scripts.generated.ts`: every `lua/*.lua` whole, with what its `-- include NAME` lines name in front of it
 * (`lua/include/NAME.lua`, once each, and what that includes), comments left out. Nothing reads files at run time.
 */
export function packageScripts(folder: string): string {
  const includes = new Map<string, string>()
  const entries = readdirSync(folder)
    .filter((file) => file.endsWith('.lua'))
    .sort()
    .map((file) => {
      const lines = readFileSync(join(folder, file), 'utf8').split('\n')
      // `#!lua` must be the very first line.
      const flags = lines[0]!.startsWith('#!') ? `${lines.shift()}\n` : ''
      const names = new Set<string>()
      const body = withIncludes(folder, lines, names, includes)
      const parts = [...names].map((name) => `include${camel(name)}`)
      return `  '${file.slice(0, -4)}': ${[quote(flags), ...parts, quote(body)].join(' + ')},\n`
    })
  const constants = [...includes].map(([name, text]) => `const include${camel(name)} = ${quote(text)}\n`)
  return [
    '// biome-ignore-all format: generated\n// biome-ignore-all lint: generated\n',
    '// From lua/*.lua by package-scripts.ts; `npx vitest run core/queue/package-scripts.test.ts -u` renews it.\n\n',
    ...constants,
    `\nexport const SCRIPTS = {\n${entries.join('')}}\n`,
  ].join('')
}

/** The lines without comments and includes; adds what they include to `names`, in the order it is needed. */
function withIncludes(
  folder: string,
  lines: string[],
  names: Set<string>,
  includes: Map<string, string>,
): string {
  const kept = lines.filter((line) => {
    const name = /^-- include (\S+)$/.exec(line)?.[1]
    if (name && !names.has(name)) {
      const text = readFileSync(join(folder, 'include', `${name}.lua`), 'utf8')
      const body = withIncludes(folder, text.split('\n'), names, includes)
      names.add(name)
      includes.set(name, body)
    }
    return !/^\s*(--.*)?$/.test(line)
  })
  return kept.map((line) => `${line}\n`).join('')
}

const camel = (name: string) => name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())

const quote = (text: string) =>
  `\`${text.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${')}\``
