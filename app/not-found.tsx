import { getTranslations } from 'next-intl/server'
import { Link } from './link'
import { NarrowPage } from './narrow-page'

export default async function NotFound() {
  const t = await getTranslations('notFound')
  return (
    <NarrowPage title={t('title')} text={t('text')}>
      <Link href="/">{t('home')}</Link>
    </NarrowPage>
  )
}
