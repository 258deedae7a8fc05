import type { Command } from 'commander'
import type { Spider } from '../core/spider'
import { saveSpider } from '../server/services/spiders'
import { readSpider } from './crawl-input'
import { withServices } from './with-services'

/** `orbweaver add-spider`: stores spiders under their names, as saving them in the console does. */
export function addSpiderCommand(program: Command): void {
  program
    .command('add-spider')
    .description('store spiders under their names: new ones, and new versions of those that changed')
    .argument('<file...>', 'spider files (JSON), or spiders in code (TypeScript)')
    .action(async (files: string[]) => {
      // All are read before the first is stored.
      const spiders: Spider[] = []
      for (const file of files) spiders.push(await readSpider(file))
      await withServices('add-spider', async (services) => {
        for (const spider of spiders) {
          const { name, version } = await saveSpider(services, spider, 'cli')
          process.stdout.write(`${name}: version ${version}\n`)
        }
      })
    })
}
