import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  canonicalise,
  hostKey,
  InvalidUrl,
  site,
  tryCanonicalise,
  tryWebUrl,
  urlHash,
  urlId,
  webUrl,
} from './url'

describe('canonical form', () => {
  test.each([
    [
      'HTTP://Shop.Example:80/Cart',
      'http://shop.example/Cart',
      'scheme and host in lower case, default port dropped',
    ],
    ['https://shop.example:443', 'https://shop.example/', 'default port of https'],
    ['https://shop.example:8443/', 'https://shop.example:8443/', 'another port stays'],
    ['http://shop.example:443/', 'http://shop.example:443/', 'the other scheme’s port stays'],
    [' \n http://shop.example/a\t ', 'http://shop.example/a', 'blanks around'],
    ['http://shop.exa\nmple/a\r\n/b', 'http://shop.example/a/b', 'line breaks inside'],
    ['http://shop.example/a#part', 'http://shop.example/a', 'fragment'],
    ['http://shop.example/#!/a', 'http://shop.example/', 'hash-bang fragment'],
    ['http://shop.example/a#x?y', 'http://shop.example/a', 'question mark within the fragment'],
    ['http://shop.example/a/./b/../c', 'http://shop.example/a/c', 'dot segments'],
    ['http://shop.example/a/%2E%2e/c', 'http://shop.example/c', 'escaped dot segments'],
    ['http://shop.example/../../c', 'http://shop.example/c', 'dot segments above the root'],
    ['http://shop.example/.hidden/..b/c...', 'http://shop.example/.hidden/..b/c...', 'dots that are names'],
    ['http://shop.example/a/', 'http://shop.example/a/', 'trailing slash kept'],
    ['http://shop.example/a', 'http://shop.example/a', 'no trailing slash added'],
    ['http://shop.example//a//b', 'http://shop.example//a//b', 'empty segments kept'],
    ['http://shop.example/?b=1&a=2', 'http://shop.example/?b=1&a=2', 'order of the query'],
    ['http://shop.example/a?', 'http://shop.example/a?', 'empty query kept'],
    ['http://shop.example?q=1', 'http://shop.example/?q=1', 'query right after the host'],
    ['http://shop.example/%7euser/%c3%a9', 'http://shop.example/~user/%C3%A9', 'escapes normalised'],
    [
      'http://shop.example/a%2fb%23c%3Fd%25e',
      'http://shop.example/a%2Fb%23c%3Fd%25e',
      'escapes that mean something stay',
    ],
    ['http://shop.example/%2541', 'http://shop.example/%2541', 'decoded once, not twice'],
    [
      'http://shop.example/100%/%41',
      'http://shop.example/100%/%41',
      'beside a stray percent sign nothing is decoded',
    ],
    ['http://shop.example/?q=%41%20b', 'http://shop.example/?q=A%20b', 'escapes in the query'],
    ['http://shop.example/?q=a+b', 'http://shop.example/?q=a+b', 'plus stays plus'],
    ['http://shop.example/a b', 'http://shop.example/a%20b', 'blank in the path'],
    [
      "http://shop.example/it's*(1)!;,@$",
      "http://shop.example/it's*(1)!;,@$",
      'punctuation that paths may have',
    ],
    ["http://shop.example/?it's", 'http://shop.example/?it%27s', 'apostrophe in the query'],
    ['http://shop.example\\a\\b', 'http://shop.example/a/b', 'backslashes'],
    ['http:shop.example/a', 'http://shop.example/a', 'no slashes'],
    ['http:////shop.example/a', 'http://shop.example/a', 'too many slashes'],
    ['http://shop.example./a', 'http://shop.example/a', 'trailing dot of the host'],
    ['http://shop.example../a', 'http://shop.example/a', 'several trailing dots'],
    ['http://a_b.example/', 'http://a_b.example/', 'underscore in a host'],
    ['http://Bücher.example/', 'http://xn--bcher-kva.example/', 'international host'],
    ['http://☕.example/ü', 'http://xn--53h.example/%C3%BC', 'emoji host'],
    ['http://中文.example/页?键=值', 'http://xn--fiq228c.example/%E9%A1%B5?%E9%94%AE=%E5%80%BC', 'Chinese'],
    ['http://0x7f.1/', 'http://127.0.0.1/', 'hexadecimal address'],
    ['http://2130706433/', 'http://127.0.0.1/', 'address as one number'],
    ['http://127.0.0.1./', 'http://127.0.0.1/', 'address with a trailing dot'],
    ['http://[2001:DB8:0::1]:8080/', 'http://[2001:db8::1]:8080/', 'IPv6'],
    ['http://shop.example/\u0000', 'http://shop.example/', 'control characters at the end'],
    ['http://shop.example/\ud800', 'http://shop.example/%EF%BF%BD', 'half a surrogate pair'],
  ])('%j becomes %j (%s)', (written, canonical) => {
    expect(canonicalise(written)).toBe(canonical)
    expect(canonicalise(canonical)).toBe(canonical)
  })

  test.each([
    ['x.html', 'http://shop.example/docs/start.html'],
    ['x.html', 'http://shop.example/docs/'],
    ['./x.html', 'http://shop.example/docs/deep/../start.html'],
    ['../docs/x.html', 'http://shop.example/docs/start.html'],
    ['/docs/x.html', 'http://shop.example/'],
    ['//shop.example/docs/x.html', 'http://other.example/'],
    ['\\docs\\x.html', 'http://shop.example/'],
    [' x.html\n#part', 'http://shop.example/docs/start.html?q=/a/b'],
    ['', 'http://shop.example/docs/x.html#here'],
    ['#part', 'http://shop.example/docs/x.html'],
    ['http:x.html', 'http://shop.example/docs/start.html'],
    ['http://shop.example/docs/x.html', 'ftp://elsewhere/'],
    ['http://shop.example/docs/x.html', 'nonsense'],
  ])('%j on %j is the one page meant', (href, base) => {
    expect(canonicalise(href, base)).toBe('http://shop.example/docs/x.html')
  })

  test.each([
    ['?page=2', 'http://shop.example/list?page=1', 'http://shop.example/list?page=2'],
    ['a:b', 'http://shop.example/', null],
    ['./a:b', 'http://shop.example/', 'http://shop.example/a:b'],
    ['x//y', 'http://shop.example/d/', 'http://shop.example/d/x//y'],
    ['x', 'http://127.0.0.1:8080/a%7e/b', 'http://127.0.0.1:8080/a~/x'],
  ])('%j on %j gives %j', (href, base, expected) => {
    expect(tryCanonicalise(href, base)).toBe(expected)
  })

  test.each([
    ['ftp://shop.example/', /scheme ftp:/],
    ['javascript:alert(1)', /scheme javascript:/],
    ['mailto:a@shop.example', /http or https/],
    ['data:text/html,x', /scheme data:/],
    ['shop.example/page', /not a URL/],
    ['http://', /not a URL/],
    ['http://a b/', /not a URL/],
    ['http://./', /host/],
    ['http://xn--a.example/', /not a URL/],
    ['http://user:secret@shop.example/', /user name or password/],
    [`http://shop.example/${'a'.repeat(8192)}`, /8,192 bytes/],
    [`http://shop.example/${'é'.repeat(2000)}`, /8,192 bytes/],
    [`http://shop.example/${'a'.repeat(100_000)}`, /8,192 bytes/],
  ])('%j is refused in one sentence', (written, reason) => {
    expect(() => canonicalise(written)).toThrow(InvalidUrl)
    expect(() => canonicalise(written)).toThrow(reason)
    expect(tryCanonicalise(written)).toBeNull()
  })

  test('a refusal never repeats the password', () => {
    expect(() => canonicalise('http://user:hunter2@shop.example/')).toThrow(/^(?!.*hunter2)/)
  })

  const piece = fc.oneof(
    fc.constantFrom(
      ...[
        'a',
        'B',
        '.',
        '..',
        '/',
        '//',
        '%',
        '%7e',
        '%2F',
        '%2e',
        '%4',
        '?',
        '&x=1',
        '#f',
        ':',
        ':80',
        '@',
        '\\',
        ' ',
      ],
      ...[
        '\n',
        "'",
        '"',
        '[',
        ']',
        '|',
        'é',
        '中',
        '\ud800',
        'xn--',
        '-',
        '_',
        '~',
        '*',
        '1',
        'http://',
        'https://h.example',
      ],
    ),
    fc.string({ maxLength: 4, unit: 'binary' }),
  )
  const written = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
  const base = fc.oneof(
    written.map((rest) => `http://h.example/${rest}`),
    fc.constantFrom(
      'https://a.b.example:8443/x/y?z',
      'http://127.0.0.1:8080/',
      'http://h.example./100%/%41/b',
    ),
  )

  test('is stable: its own canonical form is itself, and what is fetched is itself too', () => {
    fc.assert(
      fc.property(written, base, (href, from) => {
        const once = tryCanonicalise(href, from)
        if (once !== null) expect(tryCanonicalise(once)).toBe(once)
        const fetched = tryWebUrl(href, from)
        if (fetched !== null) expect(tryWebUrl(fetched)).toBe(fetched)
      }),
      { numRuns: 3000 },
    )
  })

  test('differs from what the WHATWG parser gives in the fragment, escapes and trailing dot alone', () => {
    fc.assert(
      fc.property(written, base, (href, from) => {
        const canonical = tryCanonicalise(href, from)
        if (canonical === null) return
        const standard = new URL(href, from)
        if (standard.href.includes('%') || standard.hostname.endsWith('.')) return
        expect(canonical).toBe(standard.href.replace(/#.*$/s, ''))
      }),
      { numRuns: 3000 },
    )
  })
})

test.each([
  'http://shop.example/%7euser/%c3%a9',
  'http://shop.example/a?b=1&utm_source=x',
  'http://shop.example/a%2e.b',
])('%s is fetched as it is written, and is the same page as its canonical form', (url) => {
  expect(webUrl(url)).toBe(url)
  expect(urlId(url)).toBe(urlId(canonicalise(url)))
})

describe('a spider’s rules of identity', () => {
  const rules = { drop: ['utm_*', 'gclid', 'PHPSESSID', 'jsessionid'], sortQuery: true }

  test.each([
    ['http://h.example/a?utm_source=x&b=2&utm_=&a=1', 'http://h.example/a?a=1&b=2'],
    ['http://h.example/a?gclid=1', 'http://h.example/a'],
    ['http://h.example/a?gclids=1', 'http://h.example/a?gclids=1'],
    ['http://h.example/a?phpsessid=1', 'http://h.example/a?phpsessid=1'],
    ['http://h.example/a?utm%5Fsource=1', 'http://h.example/a'],
    ['http://h.example/a?x=2&x=1&b', 'http://h.example/a?b&x=2&x=1'],
    ['http://h.example/a;jsessionid=AB.1/b;v=1?x', 'http://h.example/a/b;v=1?x'],
    ['http://h.example/a/..;jsessionid=1/b', 'http://h.example/b'],
    ['http://h.example/a?', 'http://h.example/a?'],
  ])('%s is taken for %s', (url, canonical) => {
    expect(canonicalise(url, undefined, rules)).toBe(canonical)
  })

  test('leave nothing to do a second time', () => {
    const text = fc
      .array(
        fc.constantFrom(
          ...[
            '/',
            '.',
            '..',
            ';',
            'jsessionid',
            '=',
            '&',
            '?',
            'utm_',
            'utm_a',
            'b',
            'a',
            '%2e',
            '%',
            '%75',
            ';gclid',
          ],
        ),
        { maxLength: 14 },
      )
      .map((pieces) => `http://h.example/${pieces.join('')}`)
    fc.assert(
      fc.property(text, (url) => {
        const once = tryCanonicalise(url, undefined, rules)
        if (once !== null) expect(tryCanonicalise(once, undefined, rules)).toBe(once)
      }),
      { numRuns: 5000 },
    )
  })
})

test('the hash is SHA-256 of the canonical URL and the id its first half', () => {
  const url = 'https://shop.example/%E9%A1%B5'
  const expected = createHash('sha256').update(url).digest()
  expect(urlHash(url)).toEqual(expected)
  expect(urlId(url)).toBe(expected.subarray(0, 16).toString('base64url'))
  expect(urlId(url)).toHaveLength(22)
})

test.each([
  ['https://shop.example/a', 'shop.example'],
  ['http://shop.example/', 'shop.example'],
  ['http://shop.example:8080/?x=//', 'shop.example:8080'],
  ['http://[::1]:8080/', '[::1]:8080'],
])('the host key of %s is %s', (url, key) => {
  expect(hostKey(url)).toBe(key)
})

test.each([
  ['www.shop.co.uk', 'shop.co.uk'],
  ['shop.co.uk:8080', 'shop.co.uk'],
  ['a.b.github.io', 'b.github.io'],
  ['github.io', 'github.io'],
  ['a_b.shop.com', 'shop.com'],
  ['127.0.0.1:3000', '127.0.0.1'],
  ['[::1]', '[::1]'],
  ['[::1]:80', '[::1]'],
  ['localhost:3000', 'localhost'],
  ['www.xn--fiq228c.com', 'xn--fiq228c.com'],
])('the site of %s is %s', (host, expected) => {
  expect(site(host)).toBe(expected)
})
