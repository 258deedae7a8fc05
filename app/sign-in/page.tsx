import type { Metadata } from 'next'
import { redirect } from 'next/navigation'
import { getTranslations } from 'next-intl/server'
import { NarrowPage } from '../narrow-page'
import { Prefetched, prefetch, readPerson, serverTrpc } from '../server-caller'
import { SignInForm } from './sign-in-form'

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('signIn'))('title') }
}

export default async function SignInPage() {
  const t = await getTranslations('signIn')
  if (await readPerson()) redirect('/')
  await prefetch(serverTrpc().session.setup.queryOptions())
  return (
    <Prefetched>
      <NarrowPage title={t('title')} text={t('text')}>
        <SignInForm />
      </NarrowPage>
    </Prefetched>
  )
}
