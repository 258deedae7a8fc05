import { createInterface } from 'node:readline'
import { Worker } from 'node:worker_threads'
import type { PageInput, Taken, Word } from './messages'

/** Memory of one thread's code, in MB; what needs more ends with the thread, not with the worker. */
const MAX_MB = 256
/** Loading a file with what it imports is no page's fault, and should be over in a moment. */
const LOAD_MS = 20_000

/** The code read the page, or tried to, and this is the page's outcome. */
export class CodeFailure extends Error {
  override name = 'CodeFailure'

  constructor(
    readonly reason: 'code_error' | 'code_timeout',
    message: string,
  ) {
    super(message)
  }
}

/** There is no code to read pages with, here and now. No page is to blame, and none should be lost to it. */
export class CodeUnusable extends Error {
  override name = 'CodeUnusable'
}

/** One thread. It serves one page at a time; once it failed to answer in time it is gone. */
export class CodeThread {
  readonly #worker: Worker
  #hear: ((word: Word | { gone: string }) => void) | undefined
  #gone: string | undefined
  /** Somebody has it; who gives it out keeps this. */
  busy = false

  /** @param print takes what the code prints, a line at a time. */
  constructor(
    program: URL,
    readonly version: string,
    print: (line: string) => void,
  ) {
    this.#worker = new Worker(program, {
      env: {},
      argv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: MAX_MB },
    })
    for (const stream of [this.#worker.stdout, this.#worker.stderr])
      createInterface({ input: stream }).on('line', (line) => print(line.slice(0, 1000)))
    this.#worker.on('message', (word: Word) => this.#hear?.(word))
    this.#worker.on('error', (error: Error & { code?: string }) => {
      const memory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      this.#gone ??= memory ? `it took more than ${MAX_MB} MB of memory` : error.message
    })
    // Only now are all its words here; one that it said before its end may come after the error.
    this.#worker.on('exit', () => {
      this.#gone ??= 'it ended its thread'
      this.#hear?.({ gone: this.#gone })
    })
    this.#worker.unref()
  }

  get alive(): boolean {
    return this.#gone === undefined
  }

  /** The definition of a spider's file, as JSON. @throws CodeUnusable */
  async definition(file: string): Promise<string> {
    const { loaded } = await this.#ask(file, null, 0)
    return loaded
  }

  /** What the code of a file takes of a page. @throws CodeUnusable, CodeFailure */
  async parse(file: string, page: PageInput, timeoutMs: number): Promise<Taken> {
    const { taken } = await this.#ask(file, page, timeoutMs)
    return taken!
  }

  /** Ends the thread, and what it does. */
  stop(): void {
    this.#gone ??= 'it was stopped'
    void this.#worker.terminate()
  }

  #ask(file: string, page: PageInput | null, timeoutMs: number): Promise<{ loaded: string; taken?: Taken }> {
    return new Promise<{ loaded: string; taken?: Taken }>((answered, refuse) => {
      let loaded: string | undefined
      const late = (error: Error) => {
        this.stop()
        refuse(error)
      }
      let timer = setTimeout(
        () => late(new CodeUnusable(`it was not loaded within ${LOAD_MS / 1000} s`)),
        LOAD_MS,
      )
      this.#hear = (word) => {
        clearTimeout(timer)
        if ('loaded' in word) {
          loaded = word.loaded
          if (page === null) return answered({ loaded })
          timer = setTimeout(
            () => late(new CodeFailure('code_timeout', `parse took longer than ${timeoutMs / 1000} s`)),
            timeoutMs,
          )
        } else if ('taken' in word) answered({ loaded: loaded!, taken: word.taken })
        else if ('unusable' in word) refuse(new CodeUnusable(word.unusable))
        else if ('failed' in word) refuse(new CodeFailure('code_error', word.failed))
        else if (loaded === undefined) refuse(new CodeUnusable(word.gone))
        else refuse(new CodeFailure('code_error', word.gone))
      }
      if (this.#gone !== undefined) this.#hear({ gone: this.#gone })
      else this.#worker.postMessage({ file, page })
    }).finally(() => {
      this.#hear = undefined
    })
  }
}
