import { Parser } from 'htmlparser2'
import { collapse } from './text'

/** What is no text of the page itself. */
const UNSEEN = new Set(['script', 'style', 'template', 'noscript', 'title'])

/** The text of a page with white space collapsed, to tell whether it has changed. */
export function visibleText(html: string): string {
  const pieces: string[] = []
  let unseen = 0
  const parser = new Parser({
    onopentag: (name) => {
      if (UNSEEN.has(name)) unseen++
    },
    ontext: (text) => {
      if (unseen === 0) pieces.push(text)
    },
    onclosetag: (name) => {
      if (UNSEEN.has(name)) unseen--
    },
  })
  parser.end(html)
  return collapse(pieces.join(' '))
}
