import { constants } from 'node:fs'
import { access, realpath } from 'node:fs/promises'
import { basename, delimiter, dirname, join } from 'node:path'
import { childEnv } from '../../core/env'
import { sentence, UnsafeError } from '../../core/errors'
import { run } from './command'
import { unpackPackages } from './packages'

/** A server program that can be run, and where its own files are. */
export interface Binary {
  path: string
  /** `redis`, `mariadb` or `mysql`; Valkey counts as Redis. */
  kind: 'redis' | 'mariadb' | 'mysql'
  version: string
  /** Folders in which its data files (messages, SQL scripts) may be. */
  shares: string[]
  env: NodeJS.ProcessEnv
}

interface Wanted {
  programs: string[]
  /** Sets of packages to try in turn; which names exist differs between releases. */
  packages: string[][]
  /** Oldest usable version of each kind. */
  floor: Partial<Record<Binary['kind'], [number, number]>>
}

const REDIS: Wanted = {
  programs: ['redis-server', 'valkey-server'],
  packages: [
    ['redis-server', 'redis-tools'],
    ['valkey-server', 'valkey-tools'],
  ],
  floor: { redis: [6, 2] },
}
const DATABASE: Wanted = {
  programs: ['mariadbd', 'mysqld'],
  packages: [['mariadb-server-core'], ['mysql-server-core-8.4'], ['mysql-server-core-8.0']],
  floor: { mariadb: [10, 11], mysql: [8, 0] },
}
/** Where distributions put servers; an ordinary user's PATH often lacks them. */
const MORE_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin', '/opt/homebrew/bin', '/usr/libexec']
const BY_HAND =
  'start them by hand with: docker compose up -d redis mysql (and set REDIS_URL and DATABASE_URL), or install redis-server and mariadb-server'

/** Everything here can be found in `packageFolder` again, so a second start needs no network. */
export async function findServers(
  packageFolder: string,
  say: (message: string) => void,
): Promise<{ redis: Binary; database: Binary }> {
  const redis = await find('redis', REDIS, packageFolder, say)
  const database = await find('database', DATABASE, packageFolder, say)
  return { redis, database }
}

async function find(
  name: string,
  wanted: Wanted,
  packageFolder: string,
  say: (message: string) => void,
): Promise<Binary> {
  for (const program of wanted.programs) {
    const path = await onPath(program)
    const binary = path && (await inspect(path, wanted, '/', childEnv()))
    if (binary) return binary
  }
  const faults: string[] = []
  for (const packages of wanted.packages) {
    try {
      const tree = await unpackPackages(packageFolder, name, packages, say)
      const env = childEnv({ LD_LIBRARY_PATH: tree.libraryPath })
      for (const program of wanted.programs)
        for (const folder of ['usr/sbin', 'usr/bin']) {
          const binary = await inspect(join(tree.root, folder, program), wanted, tree.root, env)
          if (binary) return binary
        }
      faults.push(`${packages.join(', ')} did not hold a usable ${wanted.programs.join(' or ')}`)
    } catch (error) {
      faults.push(sentence(error))
    }
  }
  throw new UnsafeError(
    `No usable ${wanted.programs.join(' or ')} was found on PATH, and none could be fetched (${faults[0]}); ${BY_HAND}.`,
  )
}

/** The path of a program, or undefined. */
async function onPath(program: string): Promise<string | undefined> {
  for (const folder of [...(childEnv().PATH ?? '').split(delimiter), ...MORE_FOLDERS]) {
    const path = join(folder, program)
    if (folder && (await canRun(path))) return path
  }
  return undefined
}

async function canRun(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

async function inspect(
  path: string,
  wanted: Wanted,
  root: string,
  env: NodeJS.ProcessEnv,
): Promise<Binary | undefined> {
  if (!(await canRun(path))) return undefined
  const { code, output } = await run(path, ['--version'], { env })
  // redis-server v=7.0.15 …, mariadbd  Ver 10.11.6-MariaDB …, mysqld  Ver 8.0.36 …
  const version = output.match(/(?:v=|Ver )(\d+)\.(\d+)\.(\d+)/)
  if (code !== 0 || !version) return undefined
  const kind = /MariaDB/i.test(output) ? 'mariadb' : /mysqld/i.test(output) ? 'mysql' : 'redis'
  const [major, minor] = wanted.floor[kind] ?? [0, 0]
  const [, x, y, z] = version.map(Number) as [number, number, number, number]
  if (x < major || (x === major && y < minor)) return undefined
  const installed = dirname(dirname(await realpath(path)))
  const shares = [join(installed, 'share'), join(root, 'usr/share')].flatMap((share) =>
    ['mysql', 'mariadb', basename(path), ''].map((folder) => join(share, folder)),
  )
  return { path, kind, version: `${x}.${y}.${z}`, shares, env }
}
