'use client'

import { Stack } from '@mantine/core'
import { useTranslations } from 'next-intl'
import { DEFAULT_SPIDER } from '../../../core/spider'
import { Link } from '../../link'
import { PageTitle } from '../../page-title'
import { SpiderEditor } from './spider-editor'

export function NewSpider() {
  const t = useTranslations('spiders')
  return (
    <Stack gap="md">
      <div>
        <Link href="/spiders">{t('back')}</Link>
      </div>
      <PageTitle title={t('new')} text={t('newText')} />
      <SpiderEditor
        spider={{ id: 0, version: 0, definition: { ...DEFAULT_SPIDER, name: '', description: '' } }}
      />
    </Stack>
  )
}
