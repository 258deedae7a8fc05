import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { isGlobalAddress } from '../core/address-guard'
import { sentence, UserError } from '../core/errors'
import type { Spider } from '../core/spider'
import { checkSpider } from '../core/spider-check'
import { webUrl } from '../core/url'
import { isCode, readCodeSpider } from './code-spider'

/** The spider of a file. @throws UserError naming the file and what is wrong with it. */
export async function readSpider(file: string): Promise<Spider> {
  if (isCode(file)) return readCodeSpider(file)
  let parsed: unknown
  try {
    parsed = JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    throw new UserError(
      `The spider file ${file} can't be read as JSON (${sentence(error)}); see examples/ for files that can.`,
    )
  }
  try {
    return checkSpider(parsed)
  } catch (error) {
    if (error instanceof UserError) throw new UserError(`${file}: ${error.message}`)
    throw error
  }
}

/**
 * A start URL as it is fetched. A name that only turns out to be private when it is resolved is found by the fetch.
 * @throws UserError for what is no URL of the web, and for a private address without leave.
 */
export function checkSeed(text: string, allowPrivate: boolean): string {
  const url = webUrl(text)
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  const isPrivate = isIP(host) === 0 ? /(^|\.)localhost$/.test(host) : !isGlobalAddress(host)
  if (isPrivate && !allowPrivate)
    throw new UserError(
      `${text} is at a private address, which is not fetched; add --allow-private if you mean it.`,
    )
  return url
}
