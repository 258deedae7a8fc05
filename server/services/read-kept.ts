import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { env, warcFolder } from '../../core/env'
import { sentence, UserError } from '../../core/errors'
import { objectStore } from '../../core/object-store'
import type { Services } from '../context'
import { select } from '../db'

const decompress = promisify(gunzip)

/** A record is a page of at most MAX_BODY_BYTES (1 GB, however set) with its headers. */
const MAX_BYTES = 1_100_000_000

export interface KeptContent {
  /** As it was decoded when it was fetched. */
  body: Buffer
  /** Content-Type of the answer; empty for none. */
  contentType: string
  /** What the page was found to be written in; null for what is no text. */
  charset: string | null
}

/**
 * The content of a page out of its WARC file.
 * @param hash SHA-256 of the canonical URL, 32 bytes.
 * @throws UserError when it was not kept, or its file is no longer there.
 */
export async function readKept(s: Services, run: number, hash: Buffer): Promise<KeptContent> {
  const [page] = await select<{
    charset: string | null
    warc_file: string | null
    warc_offset: number
    warc_length: number
  }>(
    s.database.pool,
    'SELECT charset, warc_file, warc_offset, warc_length FROM pages WHERE run_id = ? AND url_hash = ?',
    [run, hash],
  )
  if (!page) throw new UserError(`Run ${run} has no such page.`)
  if (page.warc_file === null)
    throw new UserError('This page was not kept; set `keep` of its spider, and the next run keeps it.')
  const { file, body } = await readRecord(page.warc_file, Number(page.warc_offset), Number(page.warc_length))
  // The record holds an HTTP message, which begins after the first empty line and has its content after the second.
  const http = after(body, 0)
  const content = http === -1 ? -1 : after(body, http)
  if (content === -1) throw new UserError(`${file} holds no page at byte ${page.warc_offset}.`)
  const length = Number(/^content-length: (\d+)/im.exec(body.toString('latin1', 0, http))?.[1])
  const head = body.toString('latin1', http, content)
  return {
    body: body.subarray(content, http + length),
    contentType: /^content-type: ?(.*?)\r?$/im.exec(head)?.[1] ?? '',
    charset: page.charset,
  }
}

async function readRecord(
  name: string,
  offset: number,
  length: number,
): Promise<{ file: string; body: Buffer }> {
  const file = join(warcFolder(), name)
  // Names come from the record alone, but one that led elsewhere must find nothing.
  if (!/^[\w.-]+\.warc\.gz$/.test(name)) throw new UserError(`${name} is no WARC file of ours.`)
  try {
    const bytes = (await fromFolder(file, offset, length)) ?? (await fromStore(name, offset, length))
    return { file, body: await decompress(bytes, { maxOutputLength: MAX_BYTES }) }
  } catch (error) {
    throw new UserError(
      `The page was kept in ${name}, which cannot be read (${sentence(error)}); put it back into ${warcFolder()}, or look there with a replay tool.`,
    )
  }
}

/** @returns undefined when the file is not here. */
async function fromFolder(file: string, offset: number, length: number): Promise<Buffer | undefined> {
  const handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && objectStore()) return undefined
    throw error
  })
  try {
    const bytes = Buffer.alloc(length)
    await handle?.read(bytes, 0, length, offset)
    return handle && bytes
  } finally {
    await handle?.close()
  }
}

async function fromStore(name: string, offset: number, length: number): Promise<Buffer> {
  const bytes = await objectStore()!.range(name, offset, length)
  if (bytes) return bytes
  throw new Error(
    `it is not in the object store yet, where a worker brings it within ${env().WARC_FILE_SECONDS} s`,
  )
}

/** Place after the first empty line from `from` on; -1 for none. */
function after(bytes: Buffer, from: number): number {
  const at = bytes.indexOf('\r\n\r\n', from)
  return at === -1 ? -1 : at + 4
}
