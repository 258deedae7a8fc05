import { describe, expect, test } from 'vitest'
import { UserError } from './errors'
import { DEFAULT_SPIDER } from './spider'
import { checkSpider, SpiderFaults } from './spider-check'

const item = (fields: object, more: object = {}) => ({
  name: 's',
  items: [{ name: 'thing', fields, ...more }],
})

/** Fields within fields, so many levels deep. */
const nested = (levels: number): object => ({ a: levels === 1 ? {} : { fields: nested(levels - 1) } })

describe('a spider that cannot be used is refused before anything runs', () => {
  test.each([
    [5, /the spider is 5, .*write an object/],
    [{}, /name is missing; add it \(write a string\)/],
    [{ name: 'a b' }, /name is "a b"/],
    [{ name: 's', follow: { scope: 'domain' } }, /follow\.scope is "domain".*"host", "site"/],
    [{ name: 's', follow: { allow: 'x' } }, /follow\.allow is "x".*write an array/],
    [{ name: 's', maxPages: '10' }, /maxPages is "10".*write a number/],
    [{ name: 's', maxPages: 0 }, /maxPages is 0.*at least 1/],
    [{ name: 's', follw: {} }, /the spider has no field "follw"; correct the name/],
    [{ name: 's', follow: { dept: 1 } }, /follow has no field "dept"/],
    [{ name: 's', seeds: ['ftp://shop.example/'] }, /seeds\[0\].*scheme ftp:/],
    [
      { name: 's', follow: { allow: ['ok', '('] } },
      /follow\.allow\[1\] "\(" is not an RE2 pattern: missing closing \)/,
    ],
    [{ name: 's', follow: { deny: ['(?=x)'] } }, /follow\.deny\[0\].*no look-around/],
    [item({ a: { regex: '\\1' } }), /items\[0\]\.fields\.a\.regex.*no back-references/],
    [item({ a: { css: 'td[' } }), /items\[0\]\.fields\.a\.css "td\[" is not a CSS selector/],
    [item({ a: { css: 'li:first' } }), /:first.*write :nth-child\(1\)/],
    [item({ a: { css: '  ' } }), /it is blank/],
    [item({ a: {} }, { each: ':nope' }), /items\[0\]\.each ":nope"/],
    [item({ a: {} }, { url: '[z-a]' }), /items\[0\]\.url "\[z-a\]"/],
    [item({}), /items\[0\]\.fields .*has no field/],
    [item({ 'a b': {} }), /items\[0\]\.fields\.a b is not a name/],
    [item({ a: { type: 'money' } }), /items\[0\]\.fields\.a\.type is "money".*"text"/],
    [
      item({ a: { css: 'p', meta: 'x' } }),
      /items\[0\]\.fields\.a has 2 sources \(css, meta\); take all but one out/,
    ],
    [item({ a: { script: '#s' } }), /fields\.a\.script .*add jsonpath/],
    [
      item({ a: { jsonpath: 'list[0]' } }),
      /fields\.a\.jsonpath "list\[0\]" is not a JSONPath.*begins with \$/,
    ],
    [
      item({ a: { table: 'table' } }),
      /fields\.a gives objects, not text; add fields, or write "type": "json"/,
    ],
    [item({ a: { zone: 'Mars/Base' } }), /fields\.a\.zone "Mars\/Base" is not an IANA time zone/],
    [item({ a: { default: ['x'] } }), /fields\.a\.default is a list, while the field is none/],
    [item({ a: { transforms: [{ replace: '(', with: '' }] } }), /fields\.a\.transforms\[0\]\.replace "\("/],
    [item({ a: { transforms: ['shout'] } }), /fields\.a\.transforms\[0\] is "shout"/],
    [item({ a: { fields: { b: { css: '[' } } } }), /items\[0\]\.fields\.a\.fields\.b\.css/],
    [item({ a: {} }, { each: 'p', from: { feed: true } }), /items\[0\] has both each and from/],
    [item({ a: {} }, { from: {} }), /items\[0\]\.from has no source; add one of css, meta/],
    [item(nested(9)), /fields is nested too deep; write at most 8 levels/],
  ])('%j', (input, reason) => {
    expect(() => checkSpider(input)).toThrow(UserError)
    expect(() => checkSpider(input)).toThrow(reason)
  })

  test.each([65, 100_000])('nested %i levels deep, whatever it is made of', (levels) => {
    let input: unknown = {}
    for (let level = 1; level < levels; level++) input = level % 2 ? [input] : { a: input }
    expect(() => checkSpider(input)).toThrow(SpiderFaults)
    expect(() => checkSpider(input)).toThrow(/nested more than 64 levels deep; write it flatter/)
  })

  test('a definition just below that bound is read, and its own faults told', () => {
    expect(() => checkSpider(item(nested(30)))).toThrow(/nested too deep; write at most 8 levels/)
  })

  test('all faults are named at once', () => {
    const spider = { ...item({ a: { css: '[' }, b: { regex: '*' } }), follow: { allow: ['('] }, seeds: ['x'] }
    expect(() => checkSpider(spider)).toThrow(
      /4 faults.*seeds\[0\].*follow\.allow\[0\].*fields\.a\.css.*fields\.b\.regex/,
    )
  })
})

test('a good spider comes back with its defaults', () => {
  const spider = checkSpider(item({ price: { css: '.price > b', regex: '([\\d.,]+)', type: 'number' } }))
  expect(spider.follow.scope).toBe('host')
  expect(spider.items?.[0]?.fields.price).toMatchObject({ list: false, required: false })
  expect(checkSpider(DEFAULT_SPIDER)).toEqual(DEFAULT_SPIDER)
})

test('a spider in code is not asked to compare its pages, and bounds that cross are named', () => {
  expect(() => checkSpider({ name: 'a', code: 'a', revisit: { mode: 'due' } })).toThrow(/revisit\.mode/)
  expect(() => checkSpider({ name: 'a', revisit: { mode: 'due', min: 10, max: 9 } })).toThrow(
    /revisit\.min .*must not be above max/,
  )
})
