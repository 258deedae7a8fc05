import { access, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sentence } from '../../core/errors'
import { chromiumOnPath, isProgram } from '../../worker/render/chromium-path'
import { unpackPackages } from './packages'
import { packageFolder } from './state'

export type Chromium = { path: string } | { path: undefined; reason: string }

/** Chromium from PATH or unpacked before by `fetchChromium`; otherwise the reason to give when skipping a test. */
export async function findChromium(): Promise<Chromium> {
  const found = await chromiumOnPath()
  if (found) return { path: found }
  const path = launcher()
  return (await isProgram(path))
    ? { path }
    : { path: undefined, reason: 'Chromium is neither on PATH nor fetched; `npm test` fetches it on Debian' }
}

/** As `findChromium`, but fetches the distribution's package when there is none. Never throws. */
export async function fetchChromium(say: (message: string) => void): Promise<Chromium> {
  const found = await findChromium()
  if (found.path) return found
  try {
    const packages = ['chromium', 'fonts-liberation']
    const { root, libraryPath } = await unpackPackages(packageFolder(), 'chromium', packages, say)
    // The package's own launcher names /usr; its program finds the rest beside itself.
    const program = join(root, 'usr/lib/chromium/chromium')
    await access(program)
    const fonts = join(root, 'fonts.conf')
    await writeFile(
      fonts,
      `<?xml version="1.0"?><fontconfig><dir>/usr/share/fonts</dir><dir>${root}/usr/share/fonts</dir><cachedir prefix="xdg">fontconfig</cachedir></fontconfig>`,
    )
    const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
    await writeFile(
      launcher(),
      `#!/bin/sh\nexport LD_LIBRARY_PATH=${quoted(libraryPath)} FONTCONFIG_FILE=${quoted(fonts)}\nexec ${quoted(program)} "$@"\n`,
      { mode: 0o755 },
    )
    return { path: launcher() }
  } catch (error) {
    return { path: undefined, reason: `Chromium could not be fetched (${sentence(error)})` }
  }
}

const launcher = () => join(packageFolder(), 'chromium-launcher')
