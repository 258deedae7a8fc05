import { expect, it } from 'vitest'
import { readDirectives, readRobotsTag } from './robots-directives'

const said = (asked: { noindex: boolean; nofollow: boolean }) =>
  Object.entries(asked)
    .filter(([, on]) => on)
    .map(([name]) => name)
    .join(' ')

it.each([
  ['noindex', 'noindex'],
  ['NOINDEX, NoFollow', 'noindex nofollow'],
  ['none', 'noindex nofollow'],
  ['index,follow', ''],
  ['noindexing', ''],
  ['noindex nofollow', 'noindex nofollow'],
])('the meta element %j asks for %j', (content, asked) => {
  expect(said(readDirectives(content))).toBe(asked)
})

it.each([
  ['noindex', 'noindex'],
  ['noarchive\nnofollow', 'nofollow'],
  ['weaverbot: noindex, nofollow', 'noindex nofollow'],
  ['WeaverBot: none', 'noindex nofollow'],
  ['otherbot: noindex, nofollow', ''],
  ['otherbot: noindex\nnofollow', 'nofollow'],
  ['otherbot: noindex, weaverbot: nofollow', 'nofollow'],
  ['unavailable_after: 25 Jun 2030 15:00:00 PST, noindex', 'noindex'],
  ['max-snippet: -1, nofollow', 'nofollow'],
  ['', ''],
])('the header %j asks us for %j', (header, asked) => {
  expect(said(readRobotsTag(header, 'weaverbot'))).toBe(asked)
})
