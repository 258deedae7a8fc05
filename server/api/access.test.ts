import { join } from 'node:path'
import type { AnyProcedure, TRPCError } from '@trpc/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { consoleServices, requestOf, someone } from '../../tests/console-services'
import type { Person } from '../auth'
import type { Services } from '../context'
import { createKey, keyHolder, revokeKey } from '../services/api-keys'
import { appRouter } from './root'
import { createCaller } from './trpc'

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
