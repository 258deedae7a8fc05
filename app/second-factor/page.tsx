import type { Metadata } from 'next'
import { redirect } from 'next/navigation'
import { getTranslations } from 'next-intl/server'
import { NarrowPage } from '../narrow-page'
import { readPerson, serverCaller } from '../server-caller'
import { SetupPage } from './setup-page'

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('secondFactor'))('title') }
}

/** Where everybody is led of whom a second factor is asked and who has none: nothing else is open to them. */
export default async function SecondFactorPage() {
  const t = await getTranslations('secondFactor')
  if (!(await readPerson())?.owesSecondFactor) redirect('/')
  // The second factor comes after a password, so that comes first.
  if (!(await (await serverCaller()).session.me()).hasPassword) redirect('/welcome')
  return (
    <NarrowPage title={t('askedTitle')} text={t('askedText')}>
      <SetupPage />
    </NarrowPage>
  )
}
