import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * `npm run check`: everything that CI checks, in order of speed; all of it runs, so that one look shows every fault.
 * `--no-tests` leaves the tests out, for CI, which has just run them.
 */
const FOLDERS = ['app', 'bench', 'cli', 'core', 'drizzle', 'examples', 'server', 'tests', 'worker']
const CHECKS = [
  ['types', 'typescript/bin/tsc', []],
  ['format and lint', '@biomejs/biome/bin/biome', ['ci']],
  [
    'import rules',
    'dependency-cruiser/bin/dependency-cruise.mjs',
    ['--config', '.dependency-cruiser.cjs', ...FOLDERS],
  ],
  ['unused code and packages', 'knip/bin/knip.js', ['--no-progress']],
]

/** @param {string} root @param {string[]} args @returns {number} exit code */
export function check(root, args) {
  const unknown = args.filter((arg) => arg !== '--no-tests')
  if (unknown.length > 0) {
    console.error(`check does not know ${unknown[0]}; it takes --no-tests.`)
    return 2
  }
  const steps = CHECKS.map(([name, program, more]) => [name, [join(root, 'node_modules', program), ...more]])
  if (!args.includes('--no-tests')) steps.push(['tests', [join(root, 'cli/start.mjs'), 'test']])
  const failed = []
  for (const [name, command] of steps) {
    const began = Date.now()
    console.error(`Checking ${name} …`)
    const { status } = spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit' })
    const seconds = `${((Date.now() - began) / 1000).toFixed(1)} s`
    console.error(status === 0 ? `ok: ${name} (${seconds})` : `FAILED: ${name} (${seconds})`)
    if (status !== 0) failed.push(name)
  }
  console.error(failed.length === 0 ? 'All checks passed.' : `Failed: ${failed.join(', ')}.`)
  return failed.length === 0 ? 0 : 1
}
