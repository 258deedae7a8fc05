import type { Metadata } from 'next'
import { redirect } from 'next/navigation'
import { getTranslations } from 'next-intl/server'
import { NarrowPage } from '../narrow-page'
import { readPerson, serverCaller } from '../server-caller'
import { OpenConsole } from './open-console'
import { PasswordForm } from './password-form'

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('welcome'))('title'), referrer: 'no-referrer' }
}

/**
 * Where a sign-in link leads. Looking at the page changes nothing (mail scanners and previews do that); the button opens
 * the console, and the second step, which may be skipped, makes a password for the next time.
 */
export default async function WelcomePage({
  searchParams,
}: {
  searchParams: Promise<{ token?: string | string[] }>
}) {
  const t = await getTranslations('welcome')
  const { token } = await searchParams
  if (await readPerson()) {
    if ((await (await serverCaller()).session.me()).hasPassword) redirect('/')
    return (
      <NarrowPage title={t('passwordTitle')} text={t('passwordText')}>
        <PasswordForm />
      </NarrowPage>
    )
  }
  if (typeof token !== 'string') redirect('/sign-in')
  return (
    <NarrowPage title={t('title')} text={t('text')}>
      <OpenConsole token={token} />
    </NarrowPage>
  )
}
