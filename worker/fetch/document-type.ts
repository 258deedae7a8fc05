/** What a body is, by its first bytes where they tell, and else by what the server says. */
export type DocumentType = 'html' | 'xml' | 'text' | 'json' | 'binary'

/** Bytes that are looked at (MIME Sniffing Standard §7); a PDF may have as many of something else before it. */
const HEAD_BYTES = 1445

/** First bytes of what is no text, whatever the server calls it (MIME Sniffing Standard §6, §7.1). */
const SIGNATURES = [
  '%!PS-Adobe-',
  '\x89PNG\r\n\x1a\n',
  'GIF87a',
  'GIF89a',
  '\xff\xd8\xff',
  'BM',
  'PK\x03\x04',
  'Rar!\x1a\x07',
  '7z\xbc\xaf\x27\x1c',
  '\x1f\x8b\x08',
  '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1',
  'OggS\0',
  'ID3',
  'wOFF',
  'wOF2',
  '\x1aE\xdf\xa3',
  '\0\0\x01\0',
  '\0\0\x02\0',
  '\x7fELF',
]

/**
 * The type of a decoded body. A PDF, a picture or an archive is `binary` though it be served as HTML, as is anything with
 * bytes that no text has; what a server leaves open (no type, `text/plain`, `application/octet-stream`) is HTML when it
 * begins as HTML does.
 */
export function documentType(body: Buffer, contentType: string | null): DocumentType {
  const essence = (contentType ?? '').split(';', 1)[0]!.trim().toLowerCase()
  if (isBinary(body)) return 'binary'
  if (essence === 'text/html' || essence === 'application/xhtml+xml') return 'html'
  if (/[/+]json$/.test(essence)) return 'json'
  if (/[/+]xml$/.test(essence)) return 'xml'
  const start = body.toString('latin1', 0, 512).replace(/^(\xef\xbb\xbf)?\s*(<!--.*?-->\s*)*/s, '')
  const open = essence === '' || !essence.includes('/') || essence === 'application/octet-stream'
  if (/^<\?xml\b/i.test(start))
    return /<html\b/i.test(start) && open ? 'html' : open || essence === 'text/plain' ? 'xml' : 'text'
  if (
    open &&
    /^<(!doctype html|html|head|body|script|title|meta|table|div|h1|p|a|br|style|font|iframe|b)[\s>/]/i.test(
      start,
    )
  )
    return 'html'
  // An empty or plain answer without a type: browsers show it as text, and there is nothing in it to be lost.
  return essence === '' && !start.includes('<') ? 'text' : open ? 'html' : 'text'
}

function isBinary(body: Buffer): boolean {
  const head = body.toString('latin1', 0, HEAD_BYTES)
  // UTF-16 is text full of NUL.
  if (/^(\xfe\xff|\xff\xfe|<\0|\0<)/.test(head)) return false
  if (SIGNATURES.some((signature) => head.startsWith(signature)) || /^RIFF....(WEBP|WAVE|AVI )/s.test(head))
    return true
  if (/^....ftyp/s.test(head)) return true
  // Some servers put a few bytes, or a whole header, before it.
  if (head.slice(0, 1024).includes('%PDF-') && !/<(html|body|!doctype|p|div|pre)\b/i.test(head)) return true
  return /[\x00-\x08\x0e-\x1a\x1c-\x1f]/.test(head) && controlShare(head) > 0.01
}

/** NUL and its like strayed into many a page of text; a file of them is none. */
function controlShare(head: string): number {
  return (head.match(/[\x00-\x08\x0e-\x1a\x1c-\x1f]/g)?.length ?? 0) / head.length
}
