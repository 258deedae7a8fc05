import type { Command } from 'commander'
import { env, setEnv } from '../core/env'
import { sentence } from '../core/errors'
import { openRedis } from '../core/redis'
import { type Database, openDatabase } from '../drizzle/database'
import {
  clocks,
  consolePort,
  databaseReady,
  databaseSettings,
  diskSpace,
  liveWorkers,
  migrations,
  nodeVersion,
  packagesInstalled,
  redisSettings,
  zone,
} from './doctor-checks'
import { dockerSocket } from './doctor-docker'
import { inboxes } from './doctor-inboxes'
import { memory, runsInContainers } from './doctor-memory'
import { packageRegistry } from './doctor-registry'
import { rendering } from './doctor-rendering'
import type { Finding } from './finding'
import { packageFile } from './package-file'
import { openStack, type Stack } from './stack/stack'
import { stateFolder } from './stack/state'

export interface Check extends Finding {
  name: string
}

/** `orbweaver doctor`: looks for what will go wrong, and says what to do about each. */
export function doctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check this installation: exit 1 when something must be mended')
    .option('--json', 'print the checks as one JSON array')
    .action(async (options: { json?: boolean }) => {
      const checks = await doctor((message) => process.stderr.write(`${message}\n`))
      if (options.json) process.stdout.write(`${JSON.stringify(checks)}\n`)
      else for (const check of checks) process.stdout.write(`${line(check)}\n`)
      process.exitCode = checks.some((check) => check.state === 'fail') ? 1 : 0
    })
}

const line = ({ state, name, detail }: Check) => `${state.padEnd(4)}  ${name.padEnd(17)}  ${detail}`

/** Checks the servers of the environment, or else the embedded ones, which are started for it when they don't run. */
export async function doctor(say: (message: string) => void): Promise<Check[]> {
  const checks: Check[] = []
  const check = async (name: string, look: () => Finding | Promise<Finding>) => {
    const finding = await Promise.resolve()
      .then(look)
      .catch((error: unknown): Finding => ({ state: 'fail', detail: sentence(error) }))
    checks.push({ name, ...finding })
    return finding.state !== 'fail'
  }
  await check('node', () => nodeVersion())
  await check('packages', packagesInstalled)
  await check('package registry', packageRegistry)
  await check('docker socket', () => dockerSocket(env().DOCKER_HOST))
  // What .env is for; its servers are published to no port of this machine.
  if (runsInContainers()) {
    await check('servers', () => ({
      state: 'ok',
      detail: 'in containers; ask there: docker compose exec scheduler orbweaver doctor',
    }))
    await check('memory', () => memory())
    await check('disk', () => diskSpace(packageFile('')))
    return checks
  }
  await check('console port', consolePort)

  let stack: Stack | undefined
  const opened = await check('servers', async () => {
    stack = await openStack({ stateDir: stateFolder(), say })
    setEnv({ REDIS_URL: stack.redisUrl, DATABASE_URL: stack.databaseUrl })
    return {
      state: 'ok',
      detail: stack.started ? 'embedded ones can be started' : 'given, or running already',
    }
  })
  await check('disk', () => diskSpace(stateFolder()))
  try {
    if (opened) await checkServers(check)
  } finally {
    await stack?.stop()
  }
  return checks
}

type Checker = (name: string, look: () => Finding | Promise<Finding>) => Promise<boolean>

async function checkServers(check: Checker): Promise<void> {
  const { REDIS_URL, DATABASE_URL } = env()
  const redis = await openRedis(REDIS_URL!).catch((error: unknown) => error as Error)
  const database: Database = openDatabase(DATABASE_URL!, 2)
  try {
    const redisAnswers = await check('redis', () => {
      if (redis instanceof Error) throw redis
      return { state: 'ok', detail: 'answers' }
    })
    const databaseAnswers = await check('database', () => databaseReady(database, DATABASE_URL!))
    if (redisAnswers && !(redis instanceof Error)) {
      await check('redis settings', () => redisSettings(redis))
      if (databaseAnswers) await check('clocks', () => clocks(redis, database))
    }
    if (!databaseAnswers) return
    await check('database settings', () => databaseSettings(database))
    if (!(await check('migrations', () => migrations(database)))) return
    await check('zone', () => zone(database))
    await check('memory', () => memory(database))
    await check('workers', () => liveWorkers(database))
    await check('rendering', () => rendering(database))
    if (redisAnswers && !(redis instanceof Error)) await check('inboxes', () => inboxes(redis, database))
  } finally {
    if (!(redis instanceof Error)) redis.disconnect()
    await database.close()
  }
}
