import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { env } from '../core/env'
import { UserError } from '../core/errors'

/** `orbweaver new spider`: a spider in code to begin with, and its test. */
export function newCommand(program: Command): void {
  program
    .command('new')
    .description('write something to begin with')
    .command('spider')
    .description('write a spider in code and its test into SPIDERS_DIR')
    .argument('<name>', 'letters, digits, - and _; the name of the spider and of its file')
    .argument('[url]', 'where it begins', 'https://example.com/')
    .action(async (name: string, url: string) => {
      if (!/^[a-zA-Z0-9][\w-]{0,63}$/.test(name))
        throw new UserError(
          `"${name}" cannot be the name of a spider; write 1 to 64 letters, digits, - or _, beginning with a letter or digit.`,
        )
      if (!/^https?:/.test(url) || !URL.canParse(url))
        throw new UserError(`"${url}" is no http(s) URL; write one such as https://example.com/.`)
      const folder = env().SPIDERS_DIR
      await mkdir(folder, { recursive: true })
      const file = join(folder, `${name}.ts`)
      await write(file, spiderText(name, new URL(url).href))
      await write(join(folder, `${name}.test.ts`), testText(name, new URL(url)))
      process.stdout.write(
        `Wrote ${file} and its test. Try it: npm run test-spiders, and npm run crawl -- --spider ${file} --max-pages 20\n`,
      )
    })
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new UserError(`${file} is there already and stays as it is; give the new spider another name.`)
  }
}

function spiderText(name: string, url: string): string {
  return `import { defineSpider } from 'orbweaver'

export default defineSpider({
  name: '${name}',
  seeds: ['${url}'],
  follow: { scope: 'host', depth: 3 },
  parse(page) {
    page.item('page', { title: page.$('h1').first().text().trim() || page.title })
    page.follow(page.$('a[rel=next]').attr('href'))
  },
})
`
}

function testText(name: string, url: URL): string {
  return `import { parsePage } from 'orbweaver/testing'
import { expect, test } from 'vitest'
import spider from './${name}'

test('takes the heading of a page, and follows to the next', async () => {
  const taken = await parsePage(spider, {
    url: '${url.href}',
    text: '<h1>First</h1> <a rel="next" href="/2">On</a>',
  })
  expect(taken.items).toEqual([{ name: 'page', data: { title: 'First' } }])
  expect(taken.follow).toEqual(['${url.origin}/2'])
})
`
}
