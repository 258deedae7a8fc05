import { spread } from './goods'
import { Page, type Resource, type Site } from './resource'

// biome-ignore format: one list
const ESTATES = [
  'Kirkoswald', 'Fernhill', 'Glenburn', 'Arya', 'Castleton', 'Margaret’s Hope',
  'Jungpana', 'Risheehat', 'Singbulli', 'Thurbo', 'Badamtam',
]

/** What every site has besides pages: redirects, errors, files, a private area, a slow host. */
export function* oddPages(site: Site): Generator<Resource> {
  yield service(site)
  yield text(site, '/robots.txt', 'User-agent: *\nDisallow: /private/\nDisallow: /checkout\n')
  yield redirect(site, '/old-shop', 301, '/products')
  yield redirect(site, '/go/1', 302, '/go/2')
  yield redirect(site, '/go/2', 302, '3')
  yield redirect(site, '/go/3', 307, '/about')
  yield redirect(site, '/go/estates', 302, `${site.slowOrigin}/`)
  yield redirect(site, '/go/round', 302, '/go/and-round')
  yield redirect(site, '/go/and-round', 302, '/go/round')
  yield redirect(site, '/go/away', 302, 'https://tea-association.example/')
  for (let n = 1; n <= 4; n++) yield error(site, `/missing/${n}`, 404, 'There is no such page')
  yield error(site, '/gone', 410, 'This page was taken down')
  yield error(site, '/broken/1', 500, 'Something went wrong')
  yield error(site, '/broken/2', 500, 'Something went wrong')
  yield error(site, '/members', 403, 'Members only')
  const busy = new Page(site, '/busy')
  yield busy.html(
    { title: 'The counter', main: '<h1>The counter</h1><p>Thank you for waiting.</p>' },
    { busyFirst: true },
  )
  yield based(site)
  for (const path of ['/private/staff', '/private/prices', '/checkout'])
    yield new Page(site, path).html({ title: 'Not for crawlers', main: '<h1>Not for crawlers</h1>' })
  yield file(site, '/files/brewing-guide.pdf', 'application/pdf', Buffer.from('%PDF-1.4\n%%EOF\n'))
  for (let n = 1; n <= 3; n++) yield file(site, `/img/label-${n}.png`, 'image/png', PIXEL)
  yield* estates(site)
}

/** The page that leads to all of them. */
function service(site: Site): Resource {
  const page = new Page(site, '/service')
  // biome-ignore format: one list
  const paths = [
    '/old-shop', '/go/1', '/go/estates', '/go/round', '/go/away', '/missing/1', '/missing/2', '/missing/3', '/missing/4', '/gone',
    '/broken/1', '/broken/2', '/members', '/busy', '/classes/', '/private/staff', '/private/prices', '/checkout',
    '/files/brewing-guide.pdf', '/img/label-1.png', '/img/label-2.png', '/img/label-3.png',
  ]
  // A fragment is no other page, nor is a host in capitals.
  const twins = [
    page.a('/about#people', 'People'),
    page.a(`${site.origin.replace('http', 'HTTP')}/about`, 'About'),
  ]
  return page.html({
    title: 'Customer service',
    main: `<h1>Customer service</h1><ul>${paths.map((path) => `<li>${page.a(path, path)}</li>`).join('')}</ul><p>${twins.join(' · ')}</p>`,
  })
}

/** Links that mean something else than they seem to, because of `<base>`. */
function based(site: Site): Resource {
  const page = new Page(site, '/classes/')
  page.base = `${site.origin}/help/`
  return page.html({
    title: 'Classes',
    main: `<h1>Classes</h1><p>${page.a('brewing', 'Before the first class')}</p>`,
  })
}

/** A second host, each page of which takes its time. */
function* estates(site: Site): Generator<Resource> {
  const address = (n: number) => (n === 0 ? '/' : `/estates/${n}`)
  for (let n = 0; n <= ESTATES.length; n++) {
    const page = new Page(site, address(n), 'supplier')
    const name = ESTATES[n - 1] ?? 'Highland Estates'
    const near = [n + 1, n * 2, n * 2 + 1].filter((m) => m >= 1 && m <= ESTATES.length && m !== n)
    yield page.html(
      {
        title: name,
        main: `<h1>${name}</h1><ul>${near.map((m) => `<li>${page.a(address(m), ESTATES[m - 1]!)}</li>`).join('')}</ul>`,
      },
      { delayMs: 300 + spread(name, 700) },
    )
  }
  yield { ...text(site, '/robots.txt', 'User-agent: *\nAllow: /\n'), url: `${site.slowOrigin}/robots.txt` }
}

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

function bare(site: Site, path: string): Resource {
  return {
    url: new URL(path, site.origin).href,
    status: 200,
    type: 'text/plain; charset=utf-8',
    body: '',
    links: [],
    items: [],
  }
}

const text = (site: Site, path: string, body: string): Resource => ({ ...bare(site, path), body })
const file = (site: Site, path: string, type: string, body: Buffer): Resource => ({
  ...bare(site, path),
  type,
  body,
})
const redirect = (site: Site, path: string, status: number, location: string): Resource => ({
  ...bare(site, path),
  status,
  location,
})

function error(site: Site, path: string, status: number, title: string): Resource {
  return { ...new Page(site, path).html({ title, main: `<h1>${title}</h1>` }), status }
}
