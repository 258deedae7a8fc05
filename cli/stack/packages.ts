import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { childEnv } from '../../core/env'
import { UnsafeError } from '../../core/errors'
import { run, tail } from './command'
import { diskFault } from './private-file'

/**
 * Packages of the distribution, downloaded and unpacked below `folder` by its own tools, which check the signatures.
 * Nothing of the system changes and no privilege is needed: apt's lists, caches and logs are all kept below `folder`.
 *
 * apt resolves against an empty list of installed packages, because the system's own may be broken or half upgraded,
 * and what the system has already is left out afterwards.
 */
export interface Unpacked {
  /** Folder that stands for `/`. */
  root: string
  /** Value for LD_LIBRARY_PATH. */
  libraryPath: string
}

const DAY_MS = 86_400_000
/** Of a closure, only these are needed to run a program; the rest sets up users, services and menus. */
const NEEDED = /^(lib|fonts-|fontconfig)/
/** The dynamic linker belongs to the system's libc, so another libc beside it would crash. */
const SYSTEMS_OWN = /^(libc6|libc-|libperl|.*-perl$)/

/** @throws UnsafeError saying what could not be had, and why. */
export async function unpackPackages(
  folder: string,
  name: string,
  wanted: string[],
  say: (message: string) => void,
): Promise<Unpacked> {
  const root = join(folder, name)
  const stamp = join(root, '.complete')
  const complete = await stat(stamp).catch(() => undefined)
  if (!complete) {
    say(`Downloading ${wanted.join(', ')} privately (nothing is installed on the system) …`)
    try {
      await download(folder, name, wanted, say)
      await writeFile(stamp, new Date().toISOString())
    } catch (error) {
      throw diskFault(error, root)
    }
  }
  return { root, libraryPath: (await readFile(join(root, '.libraries'), 'utf8')).replaceAll('@', root) }
}

async function download(folder: string, name: string, wanted: string[], say: (message: string) => void) {
  const apt = await openApt(folder)
  await apt.refresh()
  const plan = await apt.get(['-y', '-qq', '--no-install-recommends', '--print-uris', 'install', ...wanted])
  const installed = await installedPackages()
  const packages = [...plan.matchAll(/^'[^']*' (\S+)_(\S+)_\S+\.deb (\d+)/gm)]
    .map(([, pack, version, bytes]) => ({
      name: pack!,
      version: decodeURIComponent(version!),
      bytes: Number(bytes),
    }))
    .filter(
      (pack) =>
        // A program looks for its companions beside itself, so those of the system are of no use to it.
        wanted.some((one) => pack.name === one || pack.name.startsWith(`${one}-`)) ||
        (NEEDED.test(pack.name) && !installed.has(pack.name) && !SYSTEMS_OWN.test(pack.name)),
    )
  const megabytes = Math.ceil(packages.reduce((sum, pack) => sum + pack.bytes, 0) / 1e6)
  say(`Fetching ${packages.length} packages, ${megabytes} MB …`)
  const archives = join(folder, `${name}.archives`)
  const fresh = join(folder, `${name}.new`)
  for (const path of [archives, fresh]) {
    await rm(path, { recursive: true, force: true })
    await mkdir(path, { recursive: true })
  }
  await apt.get(['-q', 'download', ...packages.map((pack) => `${pack.name}=${pack.version}`)], archives)
  const { readdir } = await import('node:fs/promises')
  for (const file of (await readdir(archives)).sort()) {
    const result = await run('dpkg-deb', ['-x', join(archives, file), fresh])
    if (result.code !== 0)
      throw new UnsafeError(`Package ${file} could not be unpacked: ${tail(result.output, 2)}`)
  }
  await writeFile(join(fresh, '.libraries'), (await libraryFolders(fresh)).join(':'))
  await rm(archives, { recursive: true, force: true })
  await rm(join(folder, name), { recursive: true, force: true })
  await rename(fresh, join(folder, name))
}

/** apt-get with all its state below `folder`. */
async function openApt(folder: string) {
  const state = join(folder, 'apt')
  for (const part of ['lists/partial', 'archives/partial', 'log'])
    await mkdir(join(state, part), { recursive: true })
  await writeFile(join(state, 'status'), '')
  const settings = {
    'Dir::State': state,
    'Dir::State::lists': join(state, 'lists'),
    'Dir::State::status': join(state, 'status'),
    'Dir::Cache': state,
    'Dir::Cache::archives': join(state, 'archives'),
    'Dir::Log': join(state, 'log'),
    // As root apt would read its files as another user, who may not enter this folder.
    'APT::Sandbox::User': 'root',
    'Acquire::Retries': '3',
  }
  // A configuration file, because apt splits options on the command line at blanks and colons.
  const file = join(state, 'apt.conf')
  await writeFile(
    file,
    Object.entries(settings)
      .map(([key, value]) => `${key} "${value.replaceAll('"', '')}";\n`)
      .join(''),
  )
  const env = childEnv({ APT_CONFIG: file, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' })
  const get = async (args: string[], cwd?: string): Promise<string> => {
    const result = await run('apt-get', args, { env, cwd })
    if (result.code === 127) throw new UnsafeError('This system has no apt-get.')
    if (result.code !== 0)
      throw new UnsafeError(
        `apt-get ${args.find((arg) => !arg.startsWith('-'))} failed: ${tail(result.output, 3)}`,
      )
    return result.output
  }
  const refresh = async () => {
    const last = await stat(join(state, 'refreshed')).catch(() => undefined)
    if (last && Date.now() - last.mtimeMs < DAY_MS) return
    await get(['-q', 'update'])
    await writeFile(join(state, 'refreshed'), '')
  }
  return { get, refresh }
}

async function installedPackages(): Promise<Set<string>> {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query's own syntax
  const listing = await run('dpkg-query', ['-W', '-f', '${Package} ${db:Status-Status}\n'])
  return new Set(
    listing.output
      .split('\n')
      .filter((line) => line.endsWith(' installed'))
      .map((line) => line.split(' ')[0]!),
  )
}

/** Folders below `root` that hold shared libraries, with `@` for the root itself. */
async function libraryFolders(root: string): Promise<string[]> {
  const found = await run('find', [root, '-name', '*.so*', '-path', '*/lib*', '-printf', '%h\n'])
  const folders = new Set(found.output.trim().split('\n'))
  return [...folders].filter((path) => path).map((path) => path.replace(root, '@'))
}
