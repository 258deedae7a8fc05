import { expect, test } from 'vitest'
import { chooseLocale } from './locales'

test.each([
  ['zh-CN,zh;q=0.9,en;q=0.8', 'zh-CN'],
  ['en-GB,zh;q=0.9', 'en'],
  ['zh-TW', 'zh-CN'],
  ['fr;q=0.9, zh;q=0.5, en;q=0.7', 'en'],
  ['zh;q=0, en;q=0.1', 'en'],
  ['de', 'en'],
  ['', 'en'],
  [null, 'en'],
])('a browser that accepts %s is answered in %s', (accepted, locale) => {
  expect(chooseLocale(undefined, accepted)).toBe(locale)
})

test('a choice made in the page wins over the browser’s languages, if it is one of ours', () => {
  expect(chooseLocale('en', 'zh-CN')).toBe('en')
  expect(chooseLocale('constructor', 'zh-CN')).toBe('zh-CN')
})
