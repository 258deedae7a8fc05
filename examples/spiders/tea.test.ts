import { parsePage } from 'orbweaver/testing'
import { expect, test } from 'vitest'
import tea from './tea'

test('a list asks for its products and says where they stood', async () => {
  const taken = await parsePage(tea, {
    url: 'http://tea.example/',
    text: '<ul class="grid"><li><a href="/products/sencha">Sencha</a></li></ul> <a href="/about">About</a>',
  })
  expect(taken.requests).toEqual([
    { url: 'http://tea.example/products/sencha', priority: null, meta: '{"list":"http://tea.example/"}' },
    { url: 'http://tea.example/products?page=2', priority: -1, meta: null },
  ])
})

test('a product has its price as a number, and its tags', async () => {
  const taken = await parsePage(tea, {
    url: 'http://tea.example/products/sencha',
    text: '<h1>Sencha</h1><span class="price">£4.50</span><i class="tag">green</i><i class="tag">new</i>',
    meta: { list: 'http://tea.example/' },
  })
  expect(taken.items).toEqual([
    {
      name: 'product',
      data: { name: 'Sencha', price: 4.5, tags: ['green', 'new'], from: { list: 'http://tea.example/' } },
    },
  ])
})
