import { createHash } from 'node:crypto'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Production entry points, each bundled to `dist/NAME.js`; packages stay in node_modules. */
const ENTRIES = {
  cli: 'cli/main.ts',
  test: 'cli/test.ts',
  worker: 'worker/main.ts',
  'code-thread': 'worker/code/thread.ts',
  'code-hooks': 'worker/code/hooks.ts',
  render: 'worker/render/main.ts',
  scheduler: 'server/scheduler/main.ts',
  migrate: 'server/migrate-main.ts',
}
const SOURCES = ['bench', 'cli', 'core', 'worker', 'server', 'drizzle', 'examples', 'messages']

/**
 * Bundles the entry points when a source changed since the last time.
 * @param {string} root the project's folder
 * @param {() => void} building called when there is something to do
 */
export async function buildDist(root, building) {
  const stamp = join(root, 'dist/.stamp')
  const now = await fingerprint(root, [...SOURCES, 'package-lock.json', 'tsconfig.json'])
  if ((await readFile(stamp, 'utf8').catch(() => '')) === now) return
  building()
  const { build } = await import('esbuild')
  await rm(join(root, 'dist'), { recursive: true, force: true })
  await build({
    absWorkingDir: root,
    entryPoints: ENTRIES,
    outdir: 'dist',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'error',
  })
  await writeFile(stamp, now)
}

/**
 * A digest that changes when a file below one of `paths` is added, removed or written.
 * @param {string} root
 * @param {string[]} paths
 * @returns {Promise<string>}
 */
export async function fingerprint(root, paths) {
  const lines = []
  const look = async (path) => {
    const at = join(root, path)
    const found = await stat(at).catch(() => undefined)
    if (found?.isDirectory()) await Promise.all((await readdir(at)).map((name) => look(`${path}/${name}`)))
    else if (found && !/\.test\.tsx?$/.test(path)) lines.push(`${path} ${found.size} ${found.mtimeMs}`)
  }
  await Promise.all(paths.map(look))
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex')
}
