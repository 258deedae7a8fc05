import { expect, test } from 'vitest'
import { checkSpider } from '../../../core/spider-check'
import { definitionOf, draftOf, faultAt } from './draft'

test('a spider that goes through the form comes out as it went in, also where the form has no place for it', () => {
  const spider = checkSpider({
    name: 'shop',
    seeds: ['https://shop.example/'],
    items: [
      {
        name: 'product',
        from: { jsonLd: 'Product' },
        fields: { price: { jsonpath: '$.price', default: 0 } },
      },
      {
        name: 'page',
        each: 'article',
        fields: {
          title: { css: 'h1', transforms: ['trim', { split: ',' }], list: true },
          state: { script: '#s', jsonpath: '$.x', type: 'json' },
          offer: {
            microdata: 'Offer',
            fields: { price: { jsonpath: '$.price', type: 'number', decimal: ',' } },
          },
          news: { feed: true, type: 'json', list: true },
        },
      },
    ],
  })
  expect(checkSpider(definitionOf(draftOf(spider)))).toEqual(spider)
})

test('a fault stands at its field, and not at one whose name begins likewise', () => {
  const faults = ['items[0].fields.prices.css "[" is not a CSS selector', 'items[0].fields.a has 2 sources']
  expect(faultAt(faults, 'items[0].fields.price')).toBeUndefined()
  expect(faultAt(faults, 'items[0].fields.prices')).toBe(faults[0])
  expect(faultAt(faults, 'items[0].fields.prices.css')).toBe(faults[0])
  expect(faultAt(faults, 'items[0].fields.a')).toBe(faults[1])
})
