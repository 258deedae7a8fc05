import { mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Unavailable } from '../../core/errors'
import { cdxjLine } from './cdxj'
import type { PageRecords } from './page-records'
import { encodeRecord, warcDate } from './record'

/** Where the record with a page's content stands. */
export interface WarcLocation {
  /** Name below the folder. */
  file: string
  /** Bytes, of the compressed record. */
  offset: number
  length: number
}

interface OpenFile {
  name: string
  warc: Awaited<ReturnType<typeof open>>
  index: Awaited<ReturnType<typeof open>>
  size: number
}

/**
 * The WARC files of one worker: it alone writes to them, one batch after another, and nothing is answered before it is on
 * the disk. A worker that is killed leaves a file that is whole up to its last batch.
 */
export class WarcFiles {
  #file: OpenFile | undefined
  #turn: Promise<unknown> = Promise.resolve()
  #count = 0
  #timer: NodeJS.Timeout | undefined

  constructor(
    private readonly options: {
      folder: string
      worker: string
      userAgent: string
      /** Bytes after which the next file is begun. */
      maxBytes: number
      /** Ms after which a file is ended; absent for never. */
      openMs?: number | undefined
      /** Told of each file that is not written to any more. */
      ended?: ((name: string) => void) | undefined
    },
  ) {}

  /**
   * Appends the records of some pages. @returns for each page where its content is.
   * @throws Unavailable when the folder cannot be written; then nothing of the batch counts as kept.
   */
  write(pages: PageRecords[]): Promise<WarcLocation[]> {
    const turn = this.#turn.then(() => this.#append(pages))
    this.#turn = turn.catch(() => {})
    return turn
  }

  /** Ends the open file, when there is one, and sorts its index. */
  async close(): Promise<void> {
    const turn = this.#turn.then(() => this.#end())
    this.#turn = turn.catch(() => {})
    await turn
  }

  async #append(pages: PageRecords[]): Promise<WarcLocation[]> {
    try {
      await this.#leaveRemoved()
      this.#file ??= await this.#begin()
      const file = this.#file
      const chunks: Buffer[] = []
      const lines: string[] = []
      const locations: WarcLocation[] = []
      let offset = file.size
      for (const { records, main } of pages)
        for (const [n, { bytes, cdx }] of records.entries()) {
          const location = { file: file.name, offset, length: bytes.length }
          if (n === main) locations.push(location)
          if (cdx) lines.push(cdxjLine({ ...cdx, ...location }))
          chunks.push(bytes)
          offset += bytes.length
        }
      // At the place that is known, so that what an earlier try left half written is written over.
      await file.warc.write(Buffer.concat(chunks), 0, undefined, file.size)
      await file.warc.datasync()
      await file.index.appendFile(lines.join(''))
      file.size = offset
      if (file.size >= this.options.maxBytes) await this.#end()
      return locations
    } catch (error) {
      throw new Unavailable(
        `Pages cannot be kept in ${this.options.folder} (${(error as Error).message}); free space there or make it writable for the worker, or set another WARC_DIR.`,
        { cause: error },
      )
    }
  }

  async #begin(): Promise<OpenFile> {
    const { folder, worker, userAgent } = this.options
    await mkdir(folder, { recursive: true })
    const now = new Date()
    const time = now.toISOString().replace(/\D/g, '').slice(0, 17)
    const name = `orbweaver-${time}-${String(this.#count++).padStart(5, '0')}-${worker}.warc.gz`
    const warc = await open(join(folder, name), 'wx')
    const index = await open(indexPath(folder, name), 'a')
    const { bytes } = await encodeRecord(
      'warcinfo',
      { 'WARC-Date': warcDate(now), 'WARC-Filename': name, 'Content-Type': 'application/warc-fields' },
      Buffer.from(
        `software: Orbweaver\r\nformat: WARC file version 1.1\r\nhttp-header-user-agent: ${userAgent}\r\n`,
      ),
    )
    await warc.write(bytes, 0, undefined, 0)
    const { openMs } = this.options
    if (openMs) this.#timer = setTimeout(() => void this.close().catch(() => {}), openMs).unref()
    return { name, warc, index, size: bytes.length }
  }

  /** A worker that stood still for long may find that another took its file for one that was left; nobody would read what it adds. */
  async #leaveRemoved(): Promise<void> {
    if (!this.#file || (await this.#file.warc.stat()).nlink > 0) return
    const { warc, index } = this.#file
    this.#file = undefined
    clearTimeout(this.#timer)
    await warc.close()
    await index.close()
  }

  async #end(): Promise<void> {
    await this.#leaveRemoved()
    if (!this.#file) return
    const { name, warc, index } = this.#file
    this.#file = undefined
    clearTimeout(this.#timer)
    await warc.close()
    await index.close()
    await sortIndex(indexPath(this.options.folder, name))
    this.options.ended?.(name)
  }
}

/** Makes an index searchable. */
export async function sortIndex(path: string): Promise<void> {
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '')
  // By code unit: tools search the index by halves and compare bytes; it is ASCII but for what pages put into types.
  await writeFile(path, `${lines.sort().join('\n')}\n`)
}

export const indexPath = (folder: string, name: string) => join(folder, name.replace(/\.warc\.gz$/, '.cdxj'))
