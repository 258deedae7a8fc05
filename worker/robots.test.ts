import { describe, expect, test } from 'vitest'
import { parseRobots } from './robots'

const agent = 'WeaverBot/1.0 (+https://weaver.example)'
const site = 'https://shop.example'
const allows = (text: string, path: string) => parseRobots(text, agent).allows(site + path)
const rules = (...lines: string[]) => ['User-agent: *', ...lines].join('\n')

describe('which group applies', () => {
  const groups = `
User-agent: *
Disallow: /all
User-agent: weaverbot/2.0
Disallow: /mine
User-agent: OtherBot
Disallow: /`

  test('the one that names the product token, whatever its case and version', () => {
    expect(allows(groups, '/mine')).toBe(false)
    expect(allows(groups, '/all')).toBe(true)
    expect(parseRobots(groups, 'otherbot').allows(`${site}/x`)).toBe(false)
  })

  test('the one for * when none names it, and none at all when there is no *', () => {
    expect(parseRobots(groups, 'Stranger').allows(`${site}/all`)).toBe(false)
    expect(allows('User-agent: OtherBot\nDisallow: /', '/x')).toBe(true)
  })

  test.each(['Weaver', 'WeaverBotNews', 'Weaver-Bot', 'Bot'])(
    'not that of %s, whose name is similar',
    (name) => {
      expect(allows(`User-agent: ${name}\nDisallow: /`, '/x')).toBe(true)
    },
  )

  test('a group that names it and rules nothing allows everything', () => {
    expect(allows('User-agent: *\nDisallow: /\n\nUser-agent: WeaverBot\nDisallow:', '/x')).toBe(true)
  })

  test('several groups that name it count as one', () => {
    const twice =
      'User-agent: weaverbot\nDisallow: /a\nUser-agent: x\nDisallow: /\nUser-agent: WEAVERBOT\nDisallow: /b'
    expect([allows(twice, '/a'), allows(twice, '/b'), allows(twice, '/c')]).toEqual([false, false, true])
  })

  test('User-agent lines in a row share the rules, whatever other records and blank lines stand between', () => {
    for (const between of [
      '',
      'Sitemap: https://shop.example/s.xml',
      'Crawl-delay: 2',
      'Host: x',
      'What: ever',
      '# note',
    ])
      expect(allows(`User-agent: weaverbot\n${between}\nUser-agent: other\nDisallow: /a`, '/a')).toBe(false)
  })

  test('an Allow ends the run of User-agent lines as a Disallow does', () => {
    const managed =
      'User-agent: *\nContent-Signal: ai-train=no\nAllow: /\n\nUser-agent: OtherBot\nDisallow: /'
    expect(allows(managed, '/x')).toBe(true)
  })

  test('rules before the first User-agent line are for nobody', () => {
    expect(allows('Disallow: /\nUser-agent: *\nDisallow: /a', '/b')).toBe(true)
  })
})

describe('which rule decides', () => {
  test.each([
    [['Disallow: /'], '/x', false],
    [['Disallow:'], '/x', true],
    [['Disallow: /fish'], '/fish.html', false],
    [['Disallow: /fish'], '/Fish.html', true],
    [['Disallow: /fish'], '/catfish', true],
    [['Disallow: /fish/'], '/fish', true],
    [['Disallow: /fish*'], '/fishheads/x', false],
    [['Disallow: */test'], '/test', false],
    [['Disallow: */test'], '/a/b/test.html', false],
    [['Disallow: /*.php'], '/a/b.php?c', false],
    [['Disallow: /*.php$'], '/a/b.php?c', true],
    [['Disallow: /*.php$'], '/a/b.php.php', false],
    [['Disallow: /fish*.php'], '/fishheads/catfish.php?x', false],
    [['Disallow: /a$'], '/a', false],
    [['Disallow: /a$'], '/ab', true],
    [['Disallow: /a$b'], '/a$b', false],
    [['Disallow: /a*$'], '/abc', false],
    [['Disallow: /*ab$'], '/aab', false],
    [['Disallow: /a*a$'], '/a', true],
    [['Disallow: /?x'], '/', true],
    [['Disallow: /?x'], '/?xy', false],
    [['Disallow: /page # not this'], '/page', false],
    [['Disallow: no-slash'], '/no-slash', true],
    [['Allow: /p', 'Disallow: /'], '/page', true],
    [['Disallow: /', 'Allow: /p'], '/page', true],
    [['Allow: /folder', 'Disallow: /folder'], '/folder/page', true],
    [['Allow: /page', 'Disallow: /*.htm'], '/page.htm', false],
    [['Allow: /$', 'Disallow: /'], '/', true],
    [['Allow: /$', 'Disallow: /'], '/page', false],
    [['Disallow: /example/page/', 'Allow: /example/page/open.gif'], '/example/page/open.gif', true],
    [['Disallow: /x/page.html', 'Allow: /x/'], '/x/page.html', false],
  ])('%j: %s → %s', (lines, path, allowed) => {
    expect(allows(rules(...lines), path)).toBe(allowed)
  })

  test('robots.txt itself is always allowed', () => {
    expect(allows(rules('Disallow: /'), '/robots.txt')).toBe(true)
  })

  test('the fragment does not count, and a URL without a path has the path /', () => {
    const robots = parseRobots(rules('Disallow: /$', 'Disallow: /*end$'), agent)
    expect(robots.allows('https://shop.example')).toBe(false)
    expect(robots.allows('https://shop.example/the-end#more')).toBe(false)
  })
})

describe('one character is one character, however it is written', () => {
  test.each([
    ['/foo/bar?baz=quz', '/foo/bar?baz=quz'],
    ['/foo/bar?baz=https://foo.bar', '/foo/bar?baz=https%3A%2F%2Ffoo.bar'],
    ['/foo/bar?baz=https%3a%2f%2ffoo.bar', '/foo/bar?baz=https://foo.bar'],
    ['/foo/ツ', '/foo/%E3%83%84'],
    ['/foo/%e3%83%84', '/foo/%E3%83%84'],
    ['/foo/%62%61%7A', '/foo/baz'],
    ['/~joe', '/%7Ejoe'],
    ['/%7ejoe', '/~joe'],
    ['/a-%2A.html', '/a-*.html'],
    ['/a-%24', '/a-$'],
    ['/a,b', '/a%2Cb'],
    ['*/private', '/?next=/private'],
  ])('Disallow: %s forbids %s', (rule, path) => {
    expect(allows(rules(`Disallow: ${rule}`), path)).toBe(false)
  })

  test.each([
    ['/a/b', '/a%2Fb'],
    ['/a%2Fb', '/a/b'],
    ['/a?b', '/a%3Fb'],
    ['/a%2Ab', '/axb'],
  ])('Disallow: %s leaves %s alone', (rule, path) => {
    expect(allows(rules(`Disallow: ${rule}`), path)).toBe(true)
  })

  test('an escaped rule is not more specific than the same rule in plain letters', () => {
    expect(allows(rules('Disallow: /%7Ejoe/', 'Allow: /~joe/'), '/~joe/x')).toBe(true)
  })
})

describe('files as they are', () => {
  test.each(['\n', '\r\n', '\r'])('line ends %j', (end) => {
    expect(allows(['user-AGENT : *', 'DISALLOW:/a', '  disallow\t: /b  '].join(end), '/a')).toBe(false)
    expect(allows(['user-AGENT : *', 'DISALLOW:/a', '  disallow\t: /b  '].join(end), '/b')).toBe(false)
  })

  test('a byte order mark does not hide the first line', () => {
    expect(allows('\uFEFFUser-agent: *\nDisallow: /', '/x')).toBe(false)
    expect(parseRobots(Buffer.from('\uFEFFUser-agent: *\nDisallow: /'), agent).allows(`${site}/x`)).toBe(
      false,
    )
  })

  test('a byte that is not UTF-8 costs its own line alone', () => {
    const body = Buffer.concat([
      Buffer.from('User-agent: *\nDisallow: /caf'),
      Buffer.from([0xe9]),
      Buffer.from('\nDisallow: /b'),
    ])
    expect(parseRobots(body, agent).allows(`${site}/b`)).toBe(false)
    expect(parseRobots(body, agent).allows(`${site}/c`)).toBe(true)
  })

  test.each(['Disallow /a', 'Dissallow: /a', 'disalow: /a'])('the slip %j is understood', (line) => {
    expect(allows(`User agent: *\n${line}`, '/a')).toBe(false)
  })

  test.each(['', '\0\0', '<html><body>Not found</body></html>', ':\n::\n#', 'User-agent:\nDisallow: /'])(
    '%j allows everything',
    (text) => {
      expect(allows(text, '/x')).toBe(true)
    },
  )

  test('what stands beyond 500 KiB is not read, nor is the line that the limit cuts', () => {
    const filler = `${'# filler\n'.repeat(60_000)}`.slice(0, 500 * 1024 - 30)
    const late = `User-agent: *\n${filler}\nDisallow: /private/and/more\nDisallow: /b`
    expect(allows(late, '/private')).toBe(true)
    expect(allows(late, '/p')).toBe(true)
    expect(allows(late, '/b')).toBe(true)
    expect(allows(`User-agent: *\n${filler.slice(0, -100)}\nDisallow: /b`, '/b')).toBe(false)
  })

  test('no pattern takes more than linear time', () => {
    const robots = parseRobots(
      rules(...Array.from({ length: 2000 }, (_, n) => `Disallow: /${'*a'.repeat(100)}*${n}b$`)),
      agent,
    )
    const before = process.cpuUsage()
    expect(robots.allows(`${site}/${'a'.repeat(8000)}`)).toBe(true)
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(1000)
  })
})

describe('what else it says', () => {
  test.each([
    ['Crawl-delay: 2.5', 2500],
    ['Crawl-delay: 0', 0],
    ['crawl-delay: -1', null],
    ['Crawl-delay: soon', null],
    ['Crawl-delay:', null],
    ['Crawl-delay: 1e9', 86_400_000],
    ['', null],
  ])('%j: delay of %s ms', (line, delay) => {
    expect(parseRobots(rules(line, 'Disallow: /a'), agent).crawlDelayMs).toBe(delay)
  })

  test('the delay is that of the group that applies', () => {
    const text =
      'User-agent: *\nCrawl-delay: 9\nDisallow: /a\nUser-agent: weaverbot\nDisallow: /b\nCrawl-delay: 3'
    expect(parseRobots(text, agent).crawlDelayMs).toBe(3000)
    expect(parseRobots(text, 'Stranger').crawlDelayMs).toBe(9000)
  })

  test('sitemaps of all groups, each once, bad ones left out', () => {
    const text =
      'Sitemap: https://shop.example/a.xml\nUser-agent: x\nsitemap: HTTPS://Shop.example/a.xml\nSite-map: https://cdn.example/b.xml?x=1 # b\nSitemap: /relative.xml'
    expect(parseRobots(text, agent).sitemaps).toEqual([
      'https://shop.example/a.xml',
      'https://cdn.example/b.xml?x=1',
    ])
  })
})
