'use client'

import { Button, Menu } from '@mantine/core'
import { useTranslations } from 'next-intl'
import type { PageFilter } from '../../../../server/services/page-filter'
import { filterQuery } from './page-filter'

/** All pages that the filter leaves, as a file; the server sends it as fast as it is taken. */
export function DownloadPages({ id, filter }: { id: number; filter: PageFilter }) {
  const t = useTranslations('pages')
  const items = useTranslations('items')
  const href = (format: string) => `/api/runs/${id}/pages?${filterQuery(filter)}&format=${format}`
  return (
    <Menu position="bottom-end" width={300}>
      <Menu.Target>
        <Button size="xs" variant="default">
          {items('download')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component="a" href={href('csv')} download>
          {items('csvMark')}
        </Menu.Item>
        <Menu.Item component="a" href={href('jsonl')} download>
          {items('jsonl')}
        </Menu.Item>
        <Menu.Item component="a" href={href('txt')} download>
          {t('urlsOnly')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
