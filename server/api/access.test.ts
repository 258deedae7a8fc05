import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AnyProcedure, TRPCError } from '@trpc/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CONSOLE, consoleServices, requestOf, someone } from '../../tests/console-services'
import type { Person } from '../auth'
import type { Services } from '../context'
import { createKey, keyHolder, revokeKey } from '../services/api-keys'
import { appRouter } from './root'
import { createCaller } from './trpc'
import { handle } from './v1/handle'
import type { Operation } from './v1/operation'
import { operations } from './v1/operations'

let services: Services
let end: () => Promise<void>

beforeAll(async () => {
  ;({ services, end } = await consoleServices())
})
afterAll(() => end())

const paths = Object.keys(appRouter._def.procedures as unknown as Record<string, AnyProcedure>).sort()
const MATRIX = join(import.meta.dirname, 'access-matrix.txt')

/** Each procedure is asked with an input that it can't take, so that one that lets the asker in still changes nothing. */
async function answerOf(path: string, person: Person | null): Promise<string> {
  const [section, name] = path.split('.') as [string, string]
  const caller = createCaller(appRouter)(requestOf(services, person)) as never as Record<
    string,
    Record<string, (input: unknown) => Promise<unknown>>
  >
  try {
    await caller[section]![name]!({ surely: 'no procedure takes this' })
  } catch (error) {
    const { code } = error as TRPCError
    if (code === 'UNAUTHORIZED') return '401'
    if (code === 'FORBIDDEN') return '403'
  }
  return 'yes'
}

test('who may call which procedure is as access-matrix.txt says: a new procedure, or another answer, is a decision to write down there', async () => {
  const { id, key } = await createKey(services, { name: 'revoked', role: 'admin' }, 'test')
  await revokeKey(services, id, 'test')
  const askers: [string, Person | null][] = [
    ['anonymous', null],
    ['viewer', someone('viewer')],
    ['operator', someone('operator')],
    ['admin', someone('admin')],
    ['revoked key', await keyHolder(services, `Bearer ${key}`)],
  ]
  const width = Math.max(...paths.map((path) => path.length))
  const line = (cells: string[]) =>
    cells
      .map((cell, at) => cell.padEnd(at === 0 ? width : 9))
      .join('  ')
      .trimEnd()
  const lines = [line(['procedure', ...askers.map(([asker]) => asker)])]
  for (const path of paths)
    lines.push(line([path, ...(await Promise.all(askers.map(([, person]) => answerOf(path, person))))]))
  // After a decision: npx vitest run server/api/access.test.ts --update
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(MATRIX)
})

/** The same of the API: each operation is asked with a parameter that none takes. */
async function statusOf({ method, parts }: Operation, key: string | null): Promise<string> {
  const path = parts.map((part) => part.replace('{run}', '1').replace(/\{\w+\}/, 'x')).join('/')
  const response = await handle(
    new Request(`${CONSOLE}/api/v1/${path}?surely=none`, {
      method,
      headers: key === null ? {} : { authorization: `Bearer ${key}` },
    }),
    async () => requestOf(services, null),
  )
  return response.status === 400 ? 'yes' : String(response.status)
}

test('which key opens which path of the API is as access-matrix-api.txt says, and so is what the API has not: a new procedure is a decision to write down there', async () => {
  const keys = await Promise.all(
    (['viewer', 'operator', 'admin'] as const).map((role) =>
      createKey(services, { name: role, role }, 'test'),
    ),
  )
  const revoked = await createKey(services, { name: 'revoked', role: 'admin' }, 'test')
  await revokeKey(services, revoked.id, 'test')
  const askers = [null, ...keys.map(({ key }) => key), revoked.key]
  const width = Math.max(...operations.map(({ route }) => route.length))
  const line = (cells: string[]) =>
    cells
      .map((cell, at) => cell.padEnd(at === 0 ? width : 12))
      .join('  ')
      .trimEnd()
  const lines = [line(['path', 'anonymous', 'viewer key', 'operator key', 'admin key', 'revoked key'])]
  for (const operation of operations) {
    const cells = await Promise.all(askers.map((key) => statusOf(operation, key)))
    expect([cells[0], cells[4]], operation.route).toEqual(['401', '401'])
    lines.push(line([operation.route, ...cells]))
  }
  lines.push('', 'Left to the console:', ...(await leftToTheConsole()))
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(MATRIX.replace('matrix', 'matrix-api'))
})

/** Procedures that no operation calls. */
async function leftToTheConsole(): Promise<string[]> {
  const folder = join(import.meta.dirname, 'v1')
  const files = (await readdir(folder)).filter((name) => !name.endsWith('.test.ts'))
  const source = (await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))).join('\n')
  const called = new Set(
    Array.from(source.matchAll(/\b(?:api|procedures)\.(\w+\.\w+)\(/g), ([, path]) => path),
  )
  return paths.filter((path) => !called.has(path))
}

test('whoever may do something may do whatever a lower role may, and nobody without a session more than sign in', async () => {
  for (const path of paths) {
    const [anonymous, viewer, operator, admin] = await Promise.all([
      answerOf(path, null),
      answerOf(path, someone('viewer')),
      answerOf(path, someone('operator')),
      answerOf(path, someone('admin')),
    ])
    expect(admin, path).toBe('yes')
    if (viewer === 'yes') expect(operator, path).toBe('yes')
    if (!['health.status', 'session.setup'].includes(path)) expect(anonymous, path).toBe('401')
  }
})
