import '@mantine/core/styles.css'
import '@mantine/charts/styles.css'
import './global.css'
import { ColorSchemeScript, MantineProvider, mantineHtmlProps } from '@mantine/core'
import type { Metadata } from 'next'
import { headers } from 'next/headers'
import { NextIntlClientProvider } from 'next-intl'
import { getLocale } from 'next-intl/server'
import type { ReactNode } from 'react'
import { theme } from './theme'
import { ApiProvider } from './trpc'

export const metadata: Metadata = {
  title: { default: 'Orbweaver', template: '%s · Orbweaver' },
  robots: { index: false, follow: false },
}

export default async function RootLayout({ children }: { children: ReactNode }) {
  const locale = await getLocale()
  const nonce = (await headers()).get('x-nonce') ?? undefined
  return (
    <html lang={locale} {...mantineHtmlProps}>
      <head>
        <ColorSchemeScript defaultColorScheme="auto" nonce={nonce} />
      </head>
      <body>
        <NextIntlClientProvider>
          <MantineProvider theme={theme} defaultColorScheme="auto">
            <ApiProvider>{children}</ApiProvider>
          </MantineProvider>
        </NextIntlClientProvider>
      </body>
    </html>
  )
}
