'use client'

import { SegmentedControl, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { Link } from '../../../../link'
import { PageTitle } from '../../../../page-title'
import { QueryState } from '../../../../query-state'
import { useTRPC } from '../../../../trpc'
import { ItemsTable } from './items-table'

export function ItemsPage({ run }: { run: number }) {
  const t = useTranslations('items')
  const trpc = useTRPC()
  const [chosen, setChosen] = useState<string | null>(null)
  const query = useQuery(trpc.items.kinds.queryOptions({ run }))
  return (
    <Stack gap="md">
      <div>
        <Link href={`/runs/${run}`}>{t('back', { id: String(run) })}</Link>
      </div>
      <PageTitle title={t('title', { id: String(run) })} text={t('text')} />
      <QueryState query={query}>
        {(kinds) => {
          const kind = kinds.find((one) => one.name === chosen) ?? kinds[0]
          return (
            <>
              {kinds.length > 1 && (
                <SegmentedControl
                  aria-label={t('kind')}
                  value={kind?.name ?? ''}
                  onChange={setChosen}
                  data={kinds.map((one) => one.name)}
                  style={{ alignSelf: 'flex-start', maxWidth: '100%', overflowX: 'auto' }}
                />
              )}
              {kind && <ItemsTable key={kind.name} run={run} kind={kind} />}
            </>
          )
        }}
      </QueryState>
    </Stack>
  )
}
