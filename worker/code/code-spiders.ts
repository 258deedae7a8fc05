import { readdir, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { storable } from '../extract/text'
import { CodeThread, CodeUnusable } from './code-thread'
import type { PageInput, Taken } from './messages'

export interface CodeOptions {
  /** Folder of the files, `NAME.ts`, `.mts`, `.js` or `.mjs`. */
  folder: string
  /** Milliseconds that the code may have for one page. */
  timeoutMs: number
  /** The program of the threads. */
  program: URL
  /** Takes what the code prints, a line at a time. */
  print: (line: string) => void
}

/** How long a change of the folder may go unseen, in milliseconds. */
const LOOK_MS = 1_000
const ENDINGS = ['.ts', '.mts', '.js', '.mjs']

/**
 * The spiders in code of a folder. Their code runs in threads, a page at a time in each: code that never ends costs a thread
 * for `timeoutMs` and one page, and the worker nothing. A change in the folder counts from the next page on.
 */
export class CodeSpiders {
  readonly #most = Math.min(4, availableParallelism())
  #threads: CodeThread[] = []
  #waiting: ((thread: CodeThread) => void)[] = []
  #version = ''
  #looked = Number.NEGATIVE_INFINITY

  constructor(private readonly options: CodeOptions) {}

  /**
   * The definition that a file gives beside its code.
   * @throws CodeUnusable when there is no such file, or it cannot be loaded.
   */
  async definition(name: string): Promise<Record<string, unknown>> {
    const file = await this.#file(name)
    const text = await this.#with((thread) => thread.definition(file))
    return JSON.parse(text) as Record<string, unknown>
  }

  /** What the code of a spider takes of a page. @throws CodeUnusable as `definition`; CodeFailure when the code fails. */
  async parse(name: string, page: PageInput): Promise<Taken> {
    const file = await this.#file(name)
    const taken = await this.#with((thread) => thread.parse(file, page, this.options.timeoutMs))
    return {
      ...taken,
      items: taken.items.map((item) => ({ name: item.name, data: storableJson(item.data) })),
    }
  }

  close(): void {
    for (const thread of this.#threads) thread.stop()
    this.#threads = []
  }

  async #file(name: string): Promise<string> {
    await this.#look()
    const folder = resolve(this.options.folder)
    for (const ending of ENDINGS) {
      const path = join(folder, `${name}${ending}`)
      if ((await stat(path).catch(() => undefined))?.isFile()) return pathToFileURL(path).href
    }
    throw new CodeUnusable(
      `There is no file ${name}.ts in ${folder}; put it there, or mount the folder that has it (SPIDERS_DIR).`,
    )
  }

  /** Modules stay loaded as long as their thread lives: after a change the next page has a new one. */
  async #look(): Promise<void> {
    if (performance.now() - this.#looked < LOOK_MS) return
    this.#looked = performance.now()
    this.#version = await versionOf(this.options.folder)
    for (const thread of this.#threads) if (!thread.busy && thread.version !== this.#version) thread.stop()
    this.#tidy()
  }

  async #with<T>(work: (thread: CodeThread) => Promise<T>): Promise<T> {
    const thread = await this.#free()
    try {
      return await work(thread)
    } catch (error) {
      if (error instanceof CodeUnusable)
        throw new CodeUnusable(`The spider’s code cannot be loaded: ${error.message}.`)
      throw error
    } finally {
      this.#passOn(thread)
    }
  }

  #free(): Promise<CodeThread> | CodeThread {
    this.#tidy()
    const idle = this.#threads.find((thread) => !thread.busy && thread.version === this.#version)
    if (idle) return taken(idle)
    if (this.#threads.length < this.#most) return taken(this.#started())
    return new Promise((free) => this.#waiting.push(free))
  }

  #passOn(thread: CodeThread): void {
    if (thread.version !== this.#version) thread.stop()
    this.#tidy()
    const next = this.#waiting.shift()
    if (next) next(taken(thread.alive ? thread : this.#started()))
    else thread.busy = false
  }

  #tidy(): void {
    this.#threads = this.#threads.filter((thread) => thread.alive)
  }

  #started(): CodeThread {
    const thread = new CodeThread(this.options.program, this.#version, this.options.print)
    this.#threads.push(thread)
    return thread
  }
}

function taken(thread: CodeThread): CodeThread {
  thread.busy = true
  return thread
}

/** Sizes and times of all files below the folder; other people's packages change with what names them. */
async function versionOf(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const parts = await Promise.all(
    entries
      .filter(({ name }) => name !== 'node_modules')
      .map(async (entry) => {
        const path = join(folder, entry.name)
        const found = await stat(path).catch(() => undefined)
        return found?.isDirectory() ? versionOf(path) : `${path} ${found?.size} ${found?.mtimeMs}`
      }),
  )
  return parts.sort().join('\n')
}

/** The same with all its texts, names of fields included, as any database takes them. */
function storableJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_, part: unknown) => {
    if (typeof part === 'string') return storable(part)
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part
    return Object.fromEntries(Object.entries(part).map(([name, own]) => [storable(name), own]))
  }) as T
}
