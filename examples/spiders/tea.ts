import { defineSpider } from 'orbweaver'

/** The products of the demo site, each with its tags, and the cheapest of every list it stands in. */
export default defineSpider({
  name: 'tea',
  allowPrivate: true,
  follow: { scope: 'host', depth: 0 },
  parse(page) {
    const price = (text: string) => Number(/[\d.]+/.exec(text)?.[0])
    if (page.url.includes('/products/')) {
      page.item('product', {
        name: page.$('h1').text(),
        price: price(page.$('.price').first().text()),
        tags: page
          .$('.tag')
          .map((_, tag) => page.$(tag).text())
          .get(),
        from: page.meta,
      })
      return
    }
    for (const link of page.$('.grid a[href*="/products/"]'))
      page.request(page.$(link).attr('href')!, { meta: { list: page.url } })
    page.request('/products?page=2', { priority: -1 })
  },
})
