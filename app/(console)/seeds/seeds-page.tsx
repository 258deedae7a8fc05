'use client'

import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { usePathname, useRouter } from 'next/navigation'
import { useTranslations } from 'next-intl'
import { EmptyList } from '../../list-frame'
import { PageTitle } from '../../page-title'
import { QueryState } from '../../query-state'
import { useTRPC } from '../../trpc'
import { useMayChange } from '../may-change'
import { AddSeeds } from './add-seeds'
import { ImportsTable } from './imports-table'
import { SeedsTable } from './seeds-table'

/** `asked`: name of the spider in the address, so that a page can be linked to. */
export function SeedsPage({ asked }: { asked: string | null }) {
  const t = useTranslations('seeds')
  const trpc = useTRPC()
  const router = useRouter()
  const path = usePathname()
  const mayChange = useMayChange()
  const query = useQuery(trpc.spiders.list.queryOptions())
  return (
    <QueryState query={query}>
      {(spiders) => {
        const spider = spiders.find((one) => one.name === asked) ?? spiders[0]
        return (
          <>
            <PageTitle title={t('title')} text={t('text')}>
              {spider && (
                <Select
                  label={t('spider')}
                  value={spider.name}
                  onChange={(name) => name && router.replace(`${path}?spider=${encodeURIComponent(name)}`)}
                  data={spiders.map((one) => one.name)}
                  searchable={spiders.length > 8}
                  allowDeselect={false}
                  w={{ base: 220, sm: 260 }}
                />
              )}
            </PageTitle>
            {spider ? (
              <>
                {mayChange && <AddSeeds key={`add-${spider.id}`} spider={spider} />}
                <SeedsTable key={`list-${spider.id}`} spider={spider.id} />
                <ImportsTable spider={spider.id} />
              </>
            ) : (
              <EmptyList>{t('noSpider')}</EmptyList>
            )}
          </>
        )
      }}
    </QueryState>
  )
}
