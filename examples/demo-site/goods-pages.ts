import { CATEGORIES, PRODUCTS, type Product, spread } from './goods'
import { escapeHtml, picture } from './layout'
import { Page, type Resource, type Site } from './resource'

const A_PAGE = 20

/** Home, the paged product list, categories, the product pages and one very long catalogue. */
export function* goodsPages(site: Site): Generator<Resource> {
  yield home(site)
  yield* list(site, '/products', 'All products', PRODUCTS)
  for (const [id, { title }] of Object.entries(CATEGORIES))
    yield* list(
      site,
      `/category/${id}`,
      title,
      PRODUCTS.filter((product) => product.category === id),
    )
  for (const product of PRODUCTS) yield productPage(site, product)
  yield catalogue(site)
}

function home(site: Site): Resource {
  const page = new Page(site, '/')
  const categories = Object.entries(CATEGORIES).map(
    ([id, { title }]) => `<li>${page.a(`/category/${id}`, title)}</li>`,
  )
  const picks = PRODUCTS.filter((product) => product.tags.includes('staff pick')).slice(0, 8)
  return page.html({
    title: 'Tea, and what to drink it from',
    main: `<h1>Tea, and what to drink it from</h1><p>Forty harvests a year, from growers we know by name.</p>
<ul class="grid">${categories.join('')}</ul><h2>What we drink this week</h2>${grid(page, picks)}
<p>${page.a('/catalogue', 'The whole catalogue on one page')} · ${page.a(`${site.slowOrigin}/`, 'Our estates')} · ${page.a('/service', 'Customer service')}</p>`,
  })
}

function* list(site: Site, path: string, title: string, products: Product[]): Generator<Resource> {
  const pages = Math.ceil(products.length / A_PAGE)
  const address = (n: number) => (n === 1 ? path : `${path}?page=${n}`)
  for (let n = 1; n <= pages; n++) {
    const page = new Page(site, address(n))
    const neighbours = [n - 1, n, n + 1]
      .filter((m) => m >= 1 && m <= pages)
      .map((m) => (m === n ? `<b>${m}</b>` : page.a(address(m), String(m))))
    yield page.html({
      title: n === 1 ? title : `${title}, page ${n} of ${pages}`,
      main: `<h1>${title}</h1>${grid(page, products.slice((n - 1) * A_PAGE, n * A_PAGE))}<p class="pages">${neighbours.join('')}</p>`,
    })
  }
}

function grid(page: Page, products: Product[]): string {
  const cells = products.map(
    (product) =>
      `<li>${picture(spread(product.sku, 360))}<br>${page.a(`/products/${product.slug}`, product.name)}<br><span class="price">£${product.price.toFixed(2)}</span></li>`,
  )
  return `<ul class="grid">${cells.join('')}</ul>`
}

function productPage(site: Site, product: Product): Resource {
  const page = new Page(site, `/products/${product.slug}`)
  const others = PRODUCTS.filter((other) => other.category === product.category && other !== product)
  const first = spread(product.sku, others.length - 3)
  const tags = product.tags.map((tag) => `<li class="tag">${tag}</li>`).join('')
  const reviews = product.reviews.map(
    ({ author, stars, text }) =>
      `<div class="review"><b class="author">${author}</b> gave <span class="stars">${stars}</span> of 5<p>${escapeHtml(text)}</p></div>`,
  )
  page.items.push({
    name: 'product',
    data: {
      name: product.name,
      sku: product.sku,
      price: product.price,
      stock: product.stock,
      rating: product.rating,
      category: new URL(`/category/${product.category}`, site.origin).href,
      tags: product.tags,
    },
  })
  for (const { author, stars, text } of product.reviews)
    page.items.push({ name: 'review', data: { author, stars, text } })
  return page.html({
    title: product.name,
    description: `${product.name}, ${CATEGORIES[product.category]!.title.toLowerCase()}.`,
    main: `<article class="product" data-sku="${product.sku}">${picture(spread(product.sku, 360))}
<h1>${product.name}</h1>
<p><span class="price">£${product.price.toFixed(2)}</span> · <span class="stock">${product.stock} in stock</span> · rated <span class="rating">${product.rating.toFixed(1)}</span> of 5</p>
<p>In <span class="category">${page.a(`/category/${product.category}`, CATEGORIES[product.category]!.title)}</span>, since <time datetime="${product.added}">${product.added}</time></p>
<ul class="tags">${tags}</ul>
<p>${page.a('#reviews', 'Reviews')} · ${page.a('/checkout', 'Buy')}</p></article>
<h2 id="reviews">Reviews</h2>${reviews.join('\n')}
<h2>You may also like</h2>${grid(page, others.slice(first, first + 3))}`,
  })
}

/** About a megabyte: every product with a paragraph, three times over, as such pages are. */
function catalogue(site: Site): Resource {
  const page = new Page(site, '/catalogue')
  const rows = [1, 2, 3].flatMap((edition) =>
    PRODUCTS.map(
      (product) =>
        `<tr><td>${edition}</td><td>${page.a(`/products/${product.slug}`, product.name)}</td><td>${product.sku}</td><td>${'Grown, picked and fired by people we visit each year. '.repeat(22)}</td></tr>`,
    ),
  )
  return page.html(
    { title: 'Catalogue', main: `<h1>Catalogue</h1><table>${rows.join('\n')}</table>` },
    { compress: 'gzip' },
  )
}
