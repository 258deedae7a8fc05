/** What passes between the worker and the thread that runs a spider's code. */

/** A page on its way into the thread; all of it can be copied. */
export interface PageInput {
  url: string
  requested: string
  status: number
  headers: Record<string, string>
  contentType: string | null
  text: string
  depth: number
  referrer: string | null
  /** A JSON text. */
  meta: string | null
  title: string | null
  links: string[]
  items: { name: string; data: Record<string, unknown> }[]
}

/** A URL that the code asks for. */
export interface AskedFor {
  url: string
  /** null: the page's own. */
  priority: number | null
  /** A JSON text. */
  meta: string | null
}

/** What the code took of a page. */
export interface Taken {
  items: { name: string; data: Record<string, unknown> }[]
  follow: string[]
  requests: AskedFor[]
}

/** Without a page the spider is only loaded. */
export interface Job {
  /** URL of the file. */
  file: string
  page: PageInput | null
}

/** `loaded` comes before any of the code's own time is counted; the definition is a JSON text. */
export type Word = { loaded: string } | { taken: Taken } | { unusable: string } | { failed: string }
