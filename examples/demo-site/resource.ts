import { escapeHtml, shell } from './layout'

export interface Site {
  origin: string
  slowOrigin: string
  /** By absolute URL. */
  resources: Map<string, Resource>
}

/** One address of the demo site. */
export interface Resource {
  url: string
  status: number
  /** Content-Type header, sent as it stands. */
  type: string
  body: string | Buffer
  /** Text encoding of a string body; the header of a page need not name it. */
  charset?: 'utf-8' | 'gbk' | 'big5'
  compress?: 'gzip' | 'br'
  /** Location header of a redirect. */
  location?: string
  /** Milliseconds until it answers. */
  delayMs?: number
  /** Every other request is answered with 503. */
  busyFirst?: boolean
  /** Where the page's links lead: absolute, without fragment, http and https only. */
  links: string[]
  /** Items of `examples/demo.json` on this page. */
  items: { name: string; data: Record<string, unknown> }[]
}

/** Writes a page and keeps account of its links. */
export class Page {
  readonly url: string
  readonly links = new Set<string>()
  readonly items: Resource['items'] = []
  /** What relative links are resolved against. */
  base: string

  constructor(
    readonly site: Site,
    path: string,
    readonly host: 'shop' | 'supplier' = 'shop',
  ) {
    this.url = new URL(path, host === 'shop' ? site.origin : site.slowOrigin).href
    this.base = this.url
  }

  /** HTML of a link; `text` is plain text. */
  a(href: string, text: string): string {
    const target = new URL(href, this.base)
    target.hash = ''
    if (/^https?:$/.test(target.protocol)) this.links.add(target.href)
    return `<a href="${escapeHtml(href)}">${escapeHtml(text)}</a>`
  }

  /** The finished page around `main` (HTML). */
  html(
    text: { title: string; description?: string; language?: string; main: string },
    more: Partial<Resource> = {},
  ): Resource {
    const charset = more.charset ?? 'utf-8'
    const link = (path: string, label: string) => this.a(new URL(path, this.site.origin).href, label)
    const nav =
      this.host === 'shop'
        ? [
            link('/', 'Home'),
            link('/products', 'Shop'),
            link('/journal/', 'Journal'),
            link('/calendar/2026-01', 'Tastings'),
            link('/zh/', '中文'),
            link('/about', 'About'),
          ]
        : [this.a('/', 'Estates'), link('/', 'Back to the shop')]
    const footer = [
      link('/help/shipping', 'Shipping'),
      link('/help/returns', 'Returns'),
      link('/help/brewing', 'Brewing'),
      '<a href="mailto:hello@lantern-and-leaf.example">Write to us</a>',
      '<a href="tel:+440000000">Call</a>',
      '<a href="javascript:window.print()">Print</a>',
      this.a('#top', 'Top'),
      this.a('https://tea-association.example/members', 'Member of the Tea Association'),
    ]
    return {
      url: this.url,
      status: 200,
      type: 'text/html; charset=utf-8',
      charset,
      body: shell({
        title: text.title,
        description: text.description ?? `${text.title}, from Lantern & Leaf, tea merchants.`,
        language: text.language ?? 'en',
        charset,
        nav: nav.join(' '),
        main: text.main,
        footer: footer.join(' '),
        ...(this.base === this.url ? {} : { base: this.base }),
      }),
      links: [...this.links],
      items: this.items,
      ...more,
    }
  }
}
