'use client'

import { Button, Menu } from '@mantine/core'
import { useTranslations } from 'next-intl'

/** All items of the kind in the columns shown, as a file; the server sends it as fast as it is taken. */
export function DownloadItems({ run, kind, fields }: { run: number; kind: string; fields: string[] }) {
  const t = useTranslations('items')
  const href = (format: string, mark = false) => {
    const query = new URLSearchParams({ kind, format, fields: fields.join(','), ...(mark && { mark: '1' }) })
    return `/api/runs/${run}/items?${query}`
  }
  return (
    <Menu position="bottom-end" width={300}>
      <Menu.Target>
        <Button variant="default">{t('download')}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component="a" href={href('csv', true)} download>
          {t('csvMark')}
        </Menu.Item>
        <Menu.Item component="a" href={href('csv')} download>
          {t('csv')}
        </Menu.Item>
        <Menu.Item component="a" href={href('jsonl')} download>
          {t('jsonl')}
        </Menu.Item>
        <Menu.Item component="a" href={href('json')} download>
          {t('json')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
