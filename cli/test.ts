import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { sentence } from '../core/errors'
import { packageFile } from './package-file'
import { findServers } from './stack/binaries'
import { fetchChromium } from './stack/chromium'
import { packageFolder } from './stack/state'

/** `npm test`: fetches the servers and the browser that the tests need, then runs them all, or those named. */
async function main(args: string[]): Promise<number> {
  const say = (message: string) => console.error(message)
  try {
    await findServers(packageFolder(), say)
  } catch (error) {
    say(sentence(error))
    return 1
  }
  const chromium = await fetchChromium(say)
  if (chromium.path === undefined) say(`Tests in a browser are skipped: ${chromium.reason}.`)
  const vitest = spawn(process.execPath, [packageFile('node_modules/vitest/vitest.mjs'), 'run', ...args], {
    cwd: packageFile(''),
    stdio: 'inherit',
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => vitest.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal))
  const [code] = await once(vitest, 'exit')
  return (code as number | null) ?? 1
}

process.exitCode = await main(process.argv.slice(2))
