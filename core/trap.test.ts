import { expect, test } from 'vitest'
import { isTrap } from './trap'

test.each([
  'http://h.example/infra/www/infra/www/infra/www/',
  'http://h.example/www.g.example/a/www.g.example/b/www.g.example/c/www.g.example',
  'http://h.example/a/a/a',
  'http://h.example/x/y/2/z/y/2/z/y/2/z/end?q',
  `http://h.example/${'a1/b2/c3/'.split('/').join('/')}${Array.from({ length: 70 }, (_, n) => n).join('/')}`,
])('%s is a path without end', (url) => expect(isTrap(url)).toBe(true))

test.each([
  'http://h.example/',
  'http://h.example/a/b/a/b',
  'http://h.example/2011/11/11/11',
  'http://h.example/tiles/0/0/0/0.png',
  'http://h.example/a/b/c/d/e/f/g/h/i/j',
  'http://h.example/en/docs/en/guide',
  'http://h.example/?a/a/a/a/a',
])('%s is one that a person may have made', (url) => expect(isTrap(url)).toBe(false))
