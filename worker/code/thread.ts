import { register } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parentPort } from 'node:worker_threads'
import type { CodeSpider } from './define-spider'
import type { Job, Word } from './messages'
import { openPage } from './open-page'

/**
 * The thread in which the code of spiders runs: one job at a time, and whatever it does, the worker lives on. It sees none of
 * the worker's environment.
 */
const port = parentPort!
register(new URL('./code-hooks.js', import.meta.url))

port.on('message', (job: Job) => void work(job))

async function work({ file, page: input }: Job): Promise<void> {
  let spider: CodeSpider
  try {
    spider = ((await import(file)) as { default: CodeSpider }).default
    if (typeof spider?.parse !== 'function')
      throw new TypeError('it has no `export default defineSpider({ …, parse(page) { … } })`')
    const { parse: _, ...definition } = spider
    say({ loaded: JSON.stringify(definition) })
  } catch (error) {
    say({ unusable: told(error, file) })
    return
  }
  if (input === null) return
  try {
    const { page, taken } = openPage(input)
    await spider.parse(page)
    say({ taken })
  } catch (error) {
    say({ failed: told(error, file) })
  }
}

const say = (word: Word) => port.postMessage(word)

/** The message, and where in the spider's own files it comes from. */
function told(error: unknown, file: string): string {
  if (!(error instanceof Error)) return `it threw ${String(error)}`
  const folder = file.slice(0, file.lastIndexOf('/') + 1)
  const frame = error.stack?.split('\n').find((line) => line.includes(folder))
  const place = frame?.slice(frame.indexOf(folder)).match(/^(\S+?):(\d+):\d+/)
  const where = place ? ` (${decodeURI(place[1]!.slice(folder.length))}, line ${place[2]})` : ''
  return `${error.name === 'Error' ? '' : `${error.name}: `}${error.message}${where}`.replaceAll(
    fileURLToPath(folder),
    '',
  )
}
