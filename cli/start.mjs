#!/usr/bin/env node
// The way in from a fresh checkout: installs what is missing, builds what changed, then hands over. It uses nothing
// but Node, and must stay readable to old versions of it up to the check below.
import { spawn } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const OLDEST_NODE = [20, 19]
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [word = 'up', ...rest] = process.argv.slice(2)

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]))
  fail(
    `Orbweaver needs Node ${OLDEST_NODE.join('.')} or newer, and this is ${process.versions.node}; install a newer one from https://nodejs.org.`,
  )

if (existsSync(join(root, '.env'))) process.loadEnvFile(join(root, '.env'))
// The programs must agree on the folder wherever they are started.
process.env.STATE_DIR = resolve(root, process.env.STATE_DIR || '.orbweaver')
stopWithNpm()
const { lockFolder } = await import('./stack/lock.mjs')
const unlock = await lockFolder(`${root}#build`, () => say('Waiting for another start to finish its build …'))
try {
  if (!installed()) await step('Installing packages', 'npm ci', install)
  if (word !== 'check') await build()
} catch (error) {
  fail(error.message)
}
await unlock()

if (word === 'check') {
  const { check } = await import('./check.mjs')
  process.exit(check(root, rest))
}
// In this process, so that there is none between the terminal and the program that a signal could miss.
const program = join(root, `dist/${word === 'test' ? 'test' : 'cli'}.js`)
process.argv = [process.argv[0], program, ...(word === 'test' ? [] : [word]), ...rest]
await import(pathToFileURL(program).href)

async function build() {
  const { buildDist } = await import('./build.mjs')
  let began = 0
  await buildDist(root, () => {
    began = Date.now()
  })
  if (began > 0 && Date.now() - began > 1000) say(`Built dist/ in ${seconds(began)}.`)
}

/** Whether node_modules holds what package-lock.json says; npm writes its own record of that when it is done. */
function installed() {
  try {
    const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
    const found = JSON.parse(readFileSync(join(root, 'node_modules/.package-lock.json'), 'utf8')).packages
    return Object.entries(wanted).every(
      ([path, pack]) => path === '' || pack.optional || pack.peer || found[path]?.version === pack.version,
    )
  } catch {
    return false
  }
}

async function install() {
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']
  if (!writable(join(homedir(), '.npm'))) args.push('--cache', join(process.env.STATE_DIR, 'npm-cache'))
  // Under npm its own file is known; a plain `node cli/start.mjs` has to find it on PATH.
  const npm = process.env.npm_execpath
  const [program, ...first] = npm?.endsWith('.js') ? [process.execPath, npm] : ['npm']
  const { code, output } = await run(program, [...first, ...args])
  if (code === 0) return
  const why = output.trim().split('\n').slice(-12).join('\n')
  const remedy = /ENOSPC|no space left/i.test(why)
    ? 'The disk is full; free some space and start again.'
    : /EACCES|EPERM|EROFS/.test(why)
      ? `This user may not write to ${root}; change its owner or use a copy of your own.`
      : 'Check the network (and `npm config get registry`), then start again.'
  throw new Error(`The packages could not be installed. ${remedy}\n${why}`)
}

function writable(path) {
  try {
    accessSync(existsSync(path) ? path : dirname(path), constants.W_OK)
    return true
  } catch {
    return false
  }
}

function run(program, args) {
  return new Promise((done) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    const end = () => {
      child.kill('SIGTERM')
      process.exit(130)
    }
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
    for (const signal of signals) process.once(signal, end)
    child.on('close', () => {
      for (const signal of signals) process.off(signal, end)
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
      })
    child.on('error', (error) => done({ code: 127, output: String(error) }))
    child.on('close', (code) => done({ code, output }))
  })
}

/** Says what goes on, now and every ten seconds, so that a long step is not taken for a hang. */
async function step(what, how, work) {
  const began = Date.now()
  say(`${what} (${how}) …`)
  const timer = setInterval(() => say(`${what}: ${seconds(began)} so far …`), 10_000)
  try {
    await work()
    say(`${what}: done in ${seconds(began)}.`)
  } finally {
    clearInterval(timer)
  }
}

/**
 * npm does not always hand on the signal that ends it (and cannot hand on SIGKILL), so when it is gone, stop as for
 * SIGTERM. Started otherwise, for instance with nohup or by a service manager, the parent may leave freely.
 */
function stopWithNpm() {
  if (!process.env.npm_lifecycle_event) return
  // Between npm and us there may be the shell that npm runs scripts with.
  const line = () => `${process.ppid} ${parentOf(process.ppid)}`
  const first = line()
  setInterval(() => {
    if (line() !== first) process.kill(process.pid, 'SIGTERM')
  }, 1000).unref()
}

function parentOf(pid) {
  try {
    // The name, in brackets, may hold anything; after it come the state and the parent.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop().split(' ')[1]
  } catch {
    return ''
  }
}

function seconds(began) {
  return `${((Date.now() - began) / 1000).toFixed(1)} s`
}

function say(message) {
  console.error(message)
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
