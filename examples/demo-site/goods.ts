/** The stock of the demo shop: 240 products in six categories, the same on every start. */
export interface Product {
  slug: string
  sku: string
  name: string
  category: string
  /** Pounds, two decimals. */
  price: number
  stock: number
  /** Out of five, in halves. */
  rating: number
  tags: string[]
  /** ISO date. */
  added: string
  reviews: { author: string; stars: number; text: string }[]
}

export const CATEGORIES: Record<string, { title: string; origins: string[]; styles: string[] }> = {
  green: {
    title: 'Green tea',
    origins: ['Longjing', 'Biluochun', 'Uji', 'Shizuoka', 'Jeju', 'Huangshan', 'Kagoshima', 'Xinyang'],
    styles: ['First Flush', 'Spring Harvest', 'Shaded Leaf', 'Roasted Stem', 'Everyday Loose'],
  },
  black: {
    title: 'Black tea',
    origins: ['Keemun', 'Assam', 'Darjeeling', 'Dianhong', 'Nilgiri', 'Uva', 'Kandy', 'Rize'],
    styles: ['Golden Tip', 'Second Flush', 'Breakfast Blend', 'Smoked Pine', 'Broken Leaf'],
  },
  oolong: {
    title: 'Oolong',
    origins: ['Alishan', 'Dong Ding', 'Wuyi', 'Anxi', 'Phoenix', 'Lishan', 'Muzha', 'Doi Mae Salong'],
    styles: ['Light Roast', 'Charcoal Roast', 'Winter Pick', 'Honey Aroma', 'Aged Reserve'],
  },
  white: {
    title: 'White tea',
    origins: ['Fuding', 'Zhenghe', 'Jianyang', 'Yunnan', 'Ceylon', 'Malawi', 'Himalaya', 'Songxi'],
    styles: ['Silver Needle', 'White Peony', 'Long Brow', 'Moonlight', 'Pressed Cake'],
  },
  puerh: {
    title: 'Pu-erh',
    origins: ['Yiwu', 'Bulang', 'Menghai', 'Lincang', 'Jingmai', 'Nannuo', 'Bingdao', 'Mengsong'],
    styles: ['Raw Cake', 'Ripe Cake', 'Loose Ripe', 'Mini Tuocha', 'Old Tree'],
  },
  ware: {
    title: 'Teaware',
    origins: ['Yixing', 'Jingdezhen', 'Tokoname', 'Hagi', 'Arita', 'Dehua', 'Bizen', 'Longquan'],
    styles: ['Teapot', 'Gaiwan', 'Tasting Cup', 'Tea Caddy', 'Serving Pitcher'],
  },
}

const TAGS = ['organic', 'gift', 'single estate', 'low caffeine', 'new', 'staff pick', 'limited']
const AUTHORS = ['Mina', 'Jürgen', 'Zoë', '李雷', 'Oluwaseun', 'Beatriz', 'Håkon']
const VERDICTS = [
  'Smells of orchard blossom, and the third infusion is the best.',
  'Arrived in two days, well packed; would order again.',
  'A touch sharp when brewed too hot – keep it at 80 °C.',
  'Better than the one at twice the price.',
]

/** A number from 0 to `below` − 1 that depends on its arguments only (FNV-1a). */
export function spread(text: string, below: number): number {
  let hash = 0x811c9dc5
  for (const char of text) hash = Math.imul(hash ^ char.codePointAt(0)!, 0x01000193) >>> 0
  return ((hash ^ (hash >>> 15)) >>> 0) % below
}

export const PRODUCTS: Product[] = Object.entries(CATEGORIES).flatMap(([category, { origins, styles }], c) =>
  origins.flatMap((origin, o) =>
    styles.map((style, s): Product => {
      const name = `${origin} ${style}`
      const number = c * 40 + o * 5 + s + 1
      return {
        slug: name.toLowerCase().replaceAll(' ', '-'),
        sku: `LL-${String(number).padStart(4, '0')}`,
        name,
        category,
        price: (450 + spread(`${name} price`, category === 'ware' ? 24_000 : 5_500)) / 100,
        // One in nine is sold out.
        stock: number % 9 === 0 ? 0 : 1 + spread(`${name} stock`, 120),
        rating: 2.5 + spread(`${name} rating`, 6) / 2,
        tags: TAGS.filter((tag) => spread(name + tag, 4) === 0),
        added: `2026-${String(1 + spread(`${name} month`, 12)).padStart(2, '0')}-${String(1 + spread(`${name} day`, 28)).padStart(2, '0')}`,
        reviews: AUTHORS.slice(0, spread(`${name} reviews`, 4)).map((author, r) => ({
          author,
          stars: 3 + spread(`${name} stars ${r}`, 3),
          text: VERDICTS[spread(`${name} verdict ${r}`, VERDICTS.length)]!,
        })),
      }
    }),
  ),
)
