/** The languages of the console, the default first, each with its own name. */
export const LOCALES = { en: 'English', 'zh-CN': '简体中文' } as const
export type Locale = keyof typeof LOCALES

/** Name of the cookie that remembers the choice; without it the browser's languages decide. */
export const LOCALE_COOKIE = 'locale'

/** The language for a cookie's value and an Accept-Language header (RFC 9110 §12.5.4). */
export function chooseLocale(cookie: string | undefined, accepted: string | null): Locale {
  if (cookie && Object.hasOwn(LOCALES, cookie)) return cookie as Locale
  const wanted = (accepted ?? '')
    .split(',')
    .map((part) => {
      const [tag = '', quality] = part.trim().split(/\s*;\s*q=/)
      return {
        language: tag.toLowerCase().split('-')[0],
        quality: quality === undefined ? 1 : Number(quality),
      }
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
  for (const { language } of wanted) {
    if (language === 'en') return 'en'
    if (language === 'zh') return 'zh-CN'
  }
  return 'en'
}
