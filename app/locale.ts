import { cookies, headers } from 'next/headers'
import { getRequestConfig } from 'next-intl/server'
import { chooseLocale, LOCALE_COOKIE } from './locales'
import { serverZone } from './server-caller'

/** Language, messages and time zone of a request. Addresses carry no language: a link opens in the reader's own. */
export default getRequestConfig(async () => {
  const locale = chooseLocale(
    (await cookies()).get(LOCALE_COOKIE)?.value,
    (await headers()).get('accept-language'),
  )
  const { default: messages } = await import(`../messages/${locale}.json`)
  return { locale, messages, timeZone: serverZone() }
})
