'use client'

import { Button, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import NextLink from 'next/link'
import { useTranslations } from 'next-intl'
import { useFigures } from '../../figures'
import { Link } from '../../link'
import { PageTitle } from '../../page-title'
import { QueryState } from '../../query-state'
import { useTRPC } from '../../trpc'
import { SignIn } from './sign-in'
import { SpiderEditor } from './spider-editor'
import { StartSpider } from './start-spider'

export function SpiderPage({ name }: { name: string }) {
  const t = useTranslations('spiders')
  const trpc = useTRPC()
  const figures = useFigures()
  // Not read again by itself: it would take away what is being edited.
  const query = useQuery({
    ...trpc.spiders.get.queryOptions({ name }),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })
  return (
    <QueryState query={query}>
      {(spider) => (
        <Stack gap="md">
          <div>
            <Link href="/spiders">{t('back')}</Link>
          </div>
          <PageTitle
            title={<span className="address">{spider.name}</span>}
            text={t('versionNow', { version: figures.count(spider.version) })}
          >
            <Button component={NextLink} href={`/seeds?spider=${encodeURIComponent(name)}`} variant="default">
              {t('seeds')}
            </Button>
            <StartSpider spider={spider} />
          </PageTitle>
          <SpiderEditor key={spider.version} spider={spider} />
          <SignIn spider={spider.id} />
        </Stack>
      )}
    </QueryState>
  )
}
