import { describe, expect, test } from 'vitest'
import { compileFollow, seedScope } from './scope'
import { spiderSchema } from './spider'

const seeds = seedScope(['https://www.shop.co.uk/start', 'http://127.0.0.1:8080/', 'not a url'])
const rules = (follow: object) => compileFollow(spiderSchema.parse({ name: 's', follow }).follow)
const page = 'https://www.shop.co.uk/start'

describe('which links are followed', () => {
  test.each([
    ['host', 'https://www.shop.co.uk/a', true],
    ['host', 'http://www.shop.co.uk/a', true],
    ['host', 'https://shop.co.uk/a', false],
    ['host', 'https://www.shop.co.uk:8443/a', false],
    ['host', 'http://127.0.0.1:8080/a', true],
    ['host', 'http://127.0.0.1:9090/a', false],
    ['site', 'https://blog.shop.co.uk/a', true],
    ['site', 'https://shop.co.uk:8443/a', true],
    ['site', 'https://other.co.uk/a', false],
    ['site', 'http://127.0.0.1:9090/', true],
    ['site', 'http://127.0.0.2/', false],
    ['anywhere', 'https://other.example/', true],
    ['none', 'https://www.shop.co.uk/a', false],
  ])('scope %s: %s → %s', (scope, url, followed) => {
    expect(rules({ scope }).inScope(url, 1, seeds, page)).toBe(followed)
  })

  test('a seed that was redirected brings the place it arrived at into scope', () => {
    const arrived = 'https://shop.example/'
    expect(rules({ scope: 'host' }).inScope('https://shop.example/a', 1, seeds, arrived)).toBe(true)
    expect(rules({ scope: 'host' }).inScope('https://www.shop.example/a', 1, seeds, arrived)).toBe(false)
    expect(rules({ scope: 'site' }).inScope('https://www.shop.example/a', 1, seeds, arrived)).toBe(true)
  })

  test('a link must match one allow pattern, when there are any, and no deny pattern', () => {
    const { inScope } = rules({ allow: ['/products/', '/lists/\\d+$'], deny: ['\\?sort='] })
    expect(inScope('https://www.shop.co.uk/products/1', 1, seeds, page)).toBe(true)
    expect(inScope('https://www.shop.co.uk/lists/7', 1, seeds, page)).toBe(true)
    expect(inScope('https://www.shop.co.uk/lists/7b', 1, seeds, page)).toBe(false)
    expect(inScope('https://www.shop.co.uk/products/1?sort=up', 1, seeds, page)).toBe(false)
  })

  test('links deeper than the limit are left, those at it are followed', () => {
    const { inScope } = rules({ depth: 2 })
    expect(inScope('https://www.shop.co.uk/a', 2, seeds, page)).toBe(true)
    expect(inScope('https://www.shop.co.uk/a', 3, seeds, page)).toBe(false)
  })

  test('no pattern of a spider takes more than linear time', () => {
    const { inScope } = rules({ scope: 'anywhere', deny: ['(a+)+$', '(a|aa)*b'] })
    const before = process.cpuUsage()
    expect(inScope(`https://shop.example/${'a'.repeat(8000)}!`, 1, seeds, page)).toBe(true)
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(1000)
  })
})
