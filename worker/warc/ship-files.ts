import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sentence } from '../../core/errors'
import type { Log } from '../../core/log'
import type { ObjectStore } from '../../core/object-store'
import { indexPath, sortIndex } from './warc-files'

const EVERY_MS = 5_000

/**
 * Brings WARC files that are ended into an object store, with their indexes, and removes them here once both are there. Pages are
 * safe on the disk before anybody hears of them, so a store that is away costs nothing but room: files wait for it. What a killed
 * worker left in the folder is taken along once it is too old to be anybody's open file; two who take the same do no harm.
 */
export class FileShipping {
  /** Files that this worker has ended. */
  readonly #mine = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #turn: Promise<void> = Promise.resolve()
  #told = ''

  constructor(
    private readonly options: {
      store: ObjectStore
      folder: string
      log: Log
      /** Longest that a file is open, in ms. */
      openMs: number
    },
  ) {}

  start(): void {
    this.#timer = setInterval(() => this.#next(), EVERY_MS)
  }

  /** A file that will not be written to any more. */
  ended(name: string): void {
    this.#mine.add(name)
    this.#next()
  }

  /** Ships what this worker has ended, for `ms` at most; what is left is for the next worker in this folder. */
  async stop(ms: number): Promise<void> {
    clearInterval(this.#timer)
    this.#next()
    await Promise.race([this.#turn, new Promise((resolve) => setTimeout(resolve, ms).unref())])
  }

  #next(): void {
    this.#turn = this.#turn.then(() => this.#shipAll())
  }

  async #shipAll(): Promise<void> {
    const { folder, log } = this.options
    try {
      for (const name of await this.#ready()) {
        await this.#ship(name)
        this.#mine.delete(name)
      }
      this.#told = ''
    } catch (error) {
      const cause = sentence(error)
      if (cause !== this.#told)
        log.warn({ cause, folder }, 'Kept pages wait on the disk for the object store')
      this.#told = cause
    }
  }

  async #ready(): Promise<string[]> {
    const names = await readdir(this.options.folder).catch(() => [])
    const ready: string[] = []
    for (const name of names.filter((one) => one.endsWith('.warc.gz'))) {
      const found = await stat(join(this.options.folder, name)).catch(() => undefined)
      if (this.#mine.has(name) || (found && Date.now() - found.mtimeMs > this.options.openMs * 2))
        ready.push(name)
    }
    return ready
  }

  async #ship(name: string): Promise<void> {
    const { store, folder } = this.options
    const index = indexPath(folder, name)
    await sortIndex(index)
    await store.put(name.replace(/\.warc\.gz$/, '.cdxj'), index)
    await store.put(name, join(folder, name))
    // The pages last: as long as they are here, they are read here.
    await rm(index, { force: true })
    await rm(join(folder, name), { force: true })
  }
}
