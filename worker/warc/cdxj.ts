import { canonicalise } from '../../core/url'

export interface CdxLine {
  url: string
  /** UTC, `YYYYMMDDhhmmss`. */
  timestamp: string
  mime: string
  status: number
  digest: string
  /** Bytes, of the compressed record. */
  offset: number
  length: number
  file: string
}

/** A line of a CDXJ index: sort key, time, and a JSON object in which every value is a string, as replay tools write it. */
export function cdxjLine({ url, timestamp, offset, length, status, file, ...rest }: CdxLine): string {
  const { mime, digest } = rest
  const json = {
    url,
    mime,
    status: String(status),
    digest,
    length: String(length),
    offset: String(offset),
    filename: file,
  }
  return `${surt(url)} ${timestamp} ${JSON.stringify(json)}\n`
}

export const timestamp14 = (at: Date): string => at.toISOString().replace(/\D/g, '').slice(0, 14)

/**
 * The sort-friendly form of a URL: labels of the host from right to left, then port and path, in lower case and without
 * scheme and a leading `www`, so that the pages of a domain stand together.
 */
export function surt(url: string): string {
  const { hostname, port, pathname, search } = new URL(canonicalise(url))
  const name = hostname.replace(/^www\d*\./, '')
  const host = /^[\d.]+$|^\[/.test(name) ? name : name.split('.').reverse().join(',')
  return `${host}${port && `:${port}`})${pathname}${search}`.toLowerCase()
}
