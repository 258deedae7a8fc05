import { Stack } from '@mantine/core'
import { getTranslations } from 'next-intl/server'
import { Link } from '../link'
import { PageTitle } from '../page-title'

/** A run, or whatever else a page is about, that does not exist. */
export default async function NothingHere() {
  const t = await getTranslations('notFound')
  return (
    <Stack gap="md">
      <PageTitle title={t('title')} text={t('text')} />
      <Link href="/runs">{t('home')}</Link>
    </Stack>
  )
}
