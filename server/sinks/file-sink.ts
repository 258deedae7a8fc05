import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { BYTE_ORDER_MARK, csvLine } from '../services/csv-cells'
import { type Leftover, lookThrough } from './look-through'
import { type Sink, type SinkRecord, USUAL_BATCH } from './sink'

interface FileSettings {
  folder: string
  rotate: 'day' | 'never'
  /** CSV with these fields; absent: JSON, a line each. */
  columns?: string[] | undefined
}

/** Columns of CSV before those of the item. */
const HEAD = ['id', 'url', 'fetchedAt', 'name'] as const

/**
 * Files that grow: one a spider, and if asked one a day (UTC, by when the page was fetched). A batch is on the disk before it
 * counts as taken. The first time that a file is written to, or when another wrote to it meanwhile, it is looked through: a line
 * that broke off is cut away, and lines of the batch that stand there already are not written again.
 */
export function fileSink({ folder, rotate, columns }: FileSettings): Sink {
  /** Bytes of each file as this process left it. */
  const sizes = new Map<string, number>()
  const nameOf = ({ spider, fetchedAt }: SinkRecord) =>
    `${spider}${rotate === 'day' ? `-${fetchedAt.slice(0, 10)}` : ''}.${columns ? 'csv' : 'jsonl'}`
  const lineOf = (record: SinkRecord) =>
    columns
      ? csvLine([...HEAD.map((name) => record[name]), ...columns.map((name) => record.data[name])])
      : `${JSON.stringify(record)}\n`
  const head = columns ? BYTE_ORDER_MARK + csvLine([...HEAD, ...columns]) : ''

  async function append(name: string, lines: string[]): Promise<void> {
    const path = join(folder, name)
    const file = await open(path, 'a+')
    try {
      const { size } = await file.stat()
      let left: Leftover = { size, last: new Set() }
      if (sizes.get(name) !== size) {
        left = await lookThrough(file, size, head, path)
        if (left.size < size) await cutTo(file, left.size, size, path)
      }
      sizes.delete(name)
      const missing = lines.filter((line) => !left.last.has(line))
      const bytes = Buffer.from((left.size === 0 ? head : '') + missing.join(''))
      // Whole in one call, so that a process that takes itself for the only writer never writes in the middle of it.
      const { bytesWritten } = await file.write(bytes)
      if (bytesWritten < bytes.length) {
        await cutTo(file, left.size, left.size + bytesWritten, path)
        throw new Error(`${path} takes no more; make room on its disk`)
      }
      await file.datasync()
      if (size === 0) await syncFolder(folder)
      sizes.set(name, left.size + bytes.length)
    } finally {
      await file.close()
    }
  }

  return {
    batch: USUAL_BATCH,
    async write(records) {
      await mkdir(folder, { recursive: true })
      const names = new Set(records.map(nameOf))
      for (const name of names)
        await append(name, records.filter((record) => nameOf(record) === name).map(lineOf))
      return []
    },
  }
}

/** Cuts a broken line away, unless somebody wrote behind it meanwhile: a leader that was frozen must not cut what the next one wrote. */
async function cutTo(file: FileHandle, whole: number, size: number, path: string): Promise<void> {
  if ((await file.stat()).size !== size)
    throw new Error(`another program writes to ${path}; give it another folder`)
  await file.truncate(whole)
}

/** A file that was made survives a loss of power only when its folder is written too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
