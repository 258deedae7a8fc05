import { access, mkdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { UnsafeError } from '../../core/errors'
import type { Binary } from './binaries'
import { run, tail } from './command'
import type { Guardian } from './guardian'
import { writePrivately } from './private-file'
import { type Server, startServer, untilReady } from './server'

export interface DatabaseOptions {
  binary: Binary
  /** Folder of its data and nothing else. */
  folder: string
  port: number
  password: string
  logFile: string
  guardian: Guardian
  /** May create databases of any name: for tests. */
  anyDatabase?: boolean
}

/** Name of the database and of its only user. */
const NAME = 'orbweaver'
export const databaseAddress = (port: number, password: string) =>
  `mysql://${NAME}:${password}@127.0.0.1:${port}/${NAME}`

/**
 * A private MariaDB or MySQL: durable commits, bytes compared as bytes, UTC, local, and one user who has a password.
 * The server's `root` is removed: what only it may do, the file of statements run at each start does.
 */
export async function startDatabase(options: DatabaseOptions): Promise<Server> {
  const { binary, folder, port, password, logFile } = options
  const data = join(folder, 'data')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const paths = await ownPaths(binary, data)
  if (!(await stat(data).catch(() => undefined))) await createData(binary, folder, data, paths)

  const statements = join(folder, 'start.sql')
  const scope = options.anyDatabase ? '*.*' : `\`${NAME}%\`.*`
  const who = `'${NAME}'@'127.0.0.1'`
  await writePrivately(
    statements,
    `${[
      `CREATE DATABASE IF NOT EXISTS ${NAME} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
      `CREATE USER IF NOT EXISTS ${who} IDENTIFIED BY '${password}'`,
      `ALTER USER ${who} IDENTIFIED BY '${password}'`,
      `GRANT ALL ON ${scope} TO ${who}`,
      `DROP USER IF EXISTS 'root'@'localhost'`,
    ].join(';\n')};\n`,
  )
  const server = await startServer({
    name: binary.kind === 'mysql' ? 'MySQL' : 'MariaDB',
    program: binary.path,
    args: [
      ...paths,
      `--init-file=${statements}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      // Relative to the data: a whole path may be longer than the 107 bytes a socket's name can have.
      '--socket=socket',
      `--pid-file=${join(folder, 'pid')}`,
      '--skip-name-resolve',
      '--skip-log-bin',
      ...(binary.kind === 'mysql' ? ['--mysqlx=OFF'] : []),
      '--performance-schema=OFF',
      '--local-infile=OFF',
      '--character-set-server=utf8mb4',
      '--collation-server=utf8mb4_bin',
      '--default-time-zone=+00:00',
      '--transaction-isolation=READ-COMMITTED',
      '--max-connections=200',
      '--max-allowed-packet=64M',
      '--innodb-buffer-pool-size=256M',
      '--innodb-flush-log-at-trx-commit=1',
      ...(binary.kind === 'mariadb' ? ['--innodb-log-file-size=128M'] : []),
    ],
    env: binary.env,
    port,
    logFile,
    guardian: options.guardian,
  })
  await untilReady(
    server,
    async () => {
      const connection = await createConnection({
        uri: databaseAddress(port, password),
        connectTimeout: 2_000,
      })
      await connection.query('SELECT 1').finally(() => connection.end())
    },
    // A crash before may mean minutes of recovery; the process ending is noticed at once.
    180_000,
  )
  await rm(statements, { force: true })
  return server
}

/** Options that tell the server where its own files are. */
async function ownPaths(binary: Binary, data: string): Promise<string[]> {
  const share = await shareFolder(binary, ['english/errmsg.sys'])
  // Not the machine's: two servers that clear their left-overs from one folder remove each other's files.
  const temporary = join(dirname(data), 'tmp')
  await mkdir(temporary, { recursive: true, mode: 0o700 })
  const paths = ['--no-defaults', `--datadir=${data}`, `--tmpdir=${temporary}`]
  if (share) paths.push(`--lc-messages-dir=${share}`, `--character-sets-dir=${join(share, 'charsets')}`)
  if (userInfo().uid === 0) paths.push('--user=root')
  return paths
}

async function shareFolder(binary: Binary, files: string[]): Promise<string | undefined> {
  for (const share of binary.shares)
    for (const file of files)
      if (
        await access(join(share, file)).then(
          () => true,
          () => false,
        )
      )
        return share
  return undefined
}

/** Makes the system tables, in a folder that takes its name only when whole. */
async function createData(binary: Binary, folder: string, data: string, paths: string[]): Promise<void> {
  const fresh = join(folder, 'data.new')
  await rm(fresh, { recursive: true, force: true })
  await mkdir(fresh, { mode: 0o700 })
  const args = paths.map((path) => (path === `--datadir=${data}` ? `--datadir=${fresh}` : path))
  const result =
    binary.kind === 'mysql'
      ? await run(binary.path, [...args, '--initialize-insecure'], { env: binary.env })
      : await run(
          binary.path,
          [
            ...args,
            '--bootstrap',
            '--skip-log-bin',
            '--innodb-log-file-size=128M',
            '--max-allowed-packet=8M',
          ],
          { env: binary.env, input: await systemTables(binary) },
        )
  if (result.code !== 0)
    throw new UnsafeError(
      /No space left|errno:? 28/i.test(result.output)
        ? `The database cannot be created in ${dirname(fresh)}: the disk is full; free some space and start again.`
        : `The database cannot be created in ${dirname(fresh)}; ${binary.path} says:\n${tail(result.output)}`,
    )
  await rename(fresh, data)
}

/** MariaDB's own scripts, in the order its installer runs them; without the help texts, which nobody reads here. */
async function systemTables(binary: Binary): Promise<string> {
  for (const prefix of ['mysql', 'mariadb']) {
    const share = await shareFolder(binary, [`${prefix}_system_tables.sql`])
    if (!share) continue
    const script = (name: string) => readFile(join(share, `${prefix}_${name}.sql`), 'utf8')
    return [
      'CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\nSET @auth_root_socket = NULL;',
      await script('system_tables'),
      await script('performance_tables'),
      await script('system_tables_data'),
      "DELETE FROM global_priv WHERE User IN ('root', '');",
    ].join('\n')
  }
  throw new UnsafeError(
    `${binary.path} lacks its SQL scripts (mysql_system_tables.sql); install mariadb-server whole, or set DATABASE_URL.`,
  )
}
