import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FAULTS } from '../core/errors'
import en from '../messages/en.json'
import zh from '../messages/zh-CN.json'
import { ACTIONS } from '../server/services/audit-log'
import { REASONS } from '../worker/outcome'

type Messages = { [key: string]: string | Messages }

const flat = (messages: Messages, prefix = ''): Record<string, string> =>
  Object.fromEntries(
    Object.entries(messages).flatMap(([key, value]) =>
      typeof value === 'string' ? [[prefix + key, value]] : Object.entries(flat(value, `${prefix}${key}.`)),
    ),
  )
const english = flat(en)
const chinese = flat(zh)

test('every message exists in both languages, and none is empty', () => {
  expect(Object.keys(chinese).sort()).toEqual(Object.keys(english).sort())
  expect(Object.values({ ...english, ...chinese }).filter((text) => text.trim() === '')).toEqual([])
})

test('both languages fill in the same values', () => {
  const values = (text: string) =>
    [...new Set([...text.matchAll(/\{(\w+)/g)].map((match) => match[1]!))].sort()
  // The branches of a plural are texts, not values.
  const plain = Object.keys(english).filter((key) => !english[key]!.includes('plural'))
  for (const key of plain) expect([key, values(chinese[key]!)]).toEqual([key, values(english[key]!)])
})

test('every reason for which a page can end has plain words in both languages, and there are words for no other', () => {
  // `http_404` and the like share one sentence; `other` is for what a newer worker may store.
  const worded = Object.keys(REASONS).concat('http', 'other').sort()
  expect(Object.keys(en.reason).sort()).toEqual(worded)
  expect(Object.keys(zh.reason).sort()).toEqual(worded)
})

test('every fault that the console words has a message in both languages, and there is none for another', () => {
  expect(Object.keys(en.fault).sort()).toEqual([...FAULTS].sort())
  expect(Object.keys(zh.fault).sort()).toEqual([...FAULTS].sort())
})

test('everything that is written down as a change has words in the audit log, and there are words for nothing else', () => {
  const actions = ACTIONS.map((action) => action.replaceAll('.', '_')).sort()
  expect(Object.keys(en.auditActions).sort()).toEqual(actions)
})

test('every reason is one that somebody stores', () => {
  const source = ['worker', 'server/scheduler']
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
        .map((file) => readFileSync(join(folder, file), 'utf8')),
    )
    .join('')
  expect(Object.keys(REASONS).filter((reason) => !source.includes(`'${reason}'`))).toEqual([])
})

test('no component speaks a language of its own', () => {
  const files = readdirSync('app', { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.tsx'),
  )
  const spoken = files.flatMap((file) => {
    const text = readFileSync(join('app', file), 'utf8')
    const between = [
      ...text.matchAll(/(?:<[A-Za-z][^<>]*|\/)>\s*([^<>{}=();]*[A-Za-z\u4e00-\u9fff]{2,}[^<>{}=();]*?)\s*</g),
    ]
    const attributes = text.matchAll(/\s(?:label|placeholder|title|description|alt|aria-label)="([^"]*)"/g)
    return [...between, ...attributes].map((match) => `${file}: ${match[1]}`)
  })
  // The product's name and an example of an address are the same in every language.
  expect(spoken.filter((one) => !/: (Orbweaver|https:\/\/example\.com\/)$/.test(one))).toEqual([])
})
