'use client'

import { Alert, Anchor, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import type { PageRecordView } from '../../../../../../server/services/page-record'
import { useFigures } from '../../../../../figures'
import { Link } from '../../../../../link'
import { PageTitle } from '../../../../../page-title'
import { Pairs, Panel } from '../../../../../pairs'
import { QueryState } from '../../../../../query-state'
import { PageState } from '../../../../../run-state'
import { StatCard } from '../../../../../stat-card'
import { useTRPC } from '../../../../../trpc'
import { WebAddress } from '../../../../../web-address'
import { useMayChange } from '../../../../may-change'
import { WhyAnswer } from '../../../../queues/[name]/why-answer'
import { PageLink } from '../../page-link'
import { useReason } from '../../reason'
import { RetryPages } from '../../retry-pages'

export function PagePage({ id, hash }: { id: number; hash: string }) {
  const t = useTranslations('page')
  const trpc = useTRPC()
  const mayChange = useMayChange()
  const query = useQuery({
    ...trpc.runs.page.queryOptions({ id, hash }),
    refetchInterval: ({ state }) => (state.data?.again ? 2_000 : false),
  })
  return (
    <QueryState query={query}>
      {(page) => (
        <Stack gap="md">
          <div>
            <Link href={`/runs/${id}`}>{t('back', { id: String(id) })}</Link>
          </div>
          <PageTitle
            title={
              <Group gap="sm" component="span">
                {t('title', { id: String(id) })} <PageState state={page.state} />
              </Group>
            }
            text={<WebAddress url={page.url} />}
          >
            {mayChange && (
              <RetryPages
                id={id}
                which={{ hashes: [hash] }}
                label={t('retry')}
                offer={page.state === 'failed' && !page.again}
              />
            )}
          </PageTitle>
          {page.again && (
            <Alert color="blue" variant="light" role="status">
              {t('again')}
            </Alert>
          )}
          <Figures page={page} />
          <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="sm" style={{ alignItems: 'start' }}>
            <Panel title={t('why')}>
              <WhyAnswer why={page.why} />
              {page.detail && (
                <Text size="xs" c="dimmed" className="address">
                  {page.detail}
                </Text>
              )}
            </Panel>
            <Panel title={t('answer')}>
              <Facts page={page} />
            </Panel>
            <Panel title={t('way')}>
              <Referrers page={page} />
            </Panel>
            <Panel title={t('items')}>
              <Items page={page} />
            </Panel>
          </SimpleGrid>
        </Stack>
      )}
    </QueryState>
  )
}

function Figures({ page }: { page: PageRecordView }) {
  const t = useTranslations('page')
  const figures = useFigures()
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm">
      <StatCard
        label={t('status')}
        value={page.status === null ? '–' : String(page.status)}
        detail={t('ended', { time: figures.moment(page.fetchedAt) })}
      />
      <StatCard label={t('took')} value={figures.milliseconds(page.ms)} detail={t('tookDetail')} />
      <StatCard label={t('size')} value={figures.bytes(page.bytes)} detail={t('sizeDetail')} />
      <StatCard
        label={t('deliveries')}
        value={figures.count(page.deliveries)}
        detail={t('deliveriesDetail', { attempts: figures.count(page.attempts) })}
      />
    </SimpleGrid>
  )
}

function Facts({ page }: { page: PageRecordView }) {
  const t = useTranslations('page')
  const reason = useReason()
  const figures = useFigures()
  const redirected = page.finalUrl !== null && page.finalUrl !== page.url
  const facts: [string, string | null][] = [
    [t('pageTitle'), page.title],
    [t('outcome'), reason(page)],
    [t('finalUrl'), redirected ? page.finalUrl : null],
    [t('contentType'), page.contentType],
    [t('charset'), page.charset],
    [t('flags'), page.flags],
    [t('depth'), figures.count(page.depth)],
    [
      t('kept'),
      page.warc &&
        t('keptAt', {
          file: page.warc.file,
          offset: String(page.warc.offset),
          length: figures.bytes(page.warc.length),
        }),
    ],
  ]
  return (
    <>
      <Pairs pairs={facts.flatMap(([name, value]) => (value ? [[name, value]] : []))} />
      {page.warc && (
        <Anchor
          size="sm"
          href={`/api/runs/${page.run}/pages/${page.hash}/content`}
          target="_blank"
          rel="noopener noreferrer"
        >
          {t('look')}
        </Anchor>
      )}
    </>
  )
}

function Referrers({ page }: { page: PageRecordView }) {
  const t = useTranslations('page')
  if (page.referrers.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {t(page.depth === 0 ? 'seed' : 'noReferrer')}
      </Text>
    )
  return (
    <Stack gap={8} component="ol" m={0} p={0} style={{ listStyle: 'none' }}>
      {page.referrers.map((referrer) => (
        <li key={referrer.url}>
          {referrer.hash ? (
            <PageLink run={page.run} hash={referrer.hash} url={referrer.url} />
          ) : (
            <WebAddress url={referrer.url} />
          )}
          <Text size="xs" c="dimmed" className="address">
            {referrer.hash === null
              ? t('referrerOpen')
              : referrer.depth === 0
                ? t('referrerSeed', { title: referrer.title ?? '' })
                : referrer.title}
          </Text>
        </li>
      ))}
    </Stack>
  )
}

function Items({ page }: { page: PageRecordView }) {
  const t = useTranslations('page')
  const figures = useFigures()
  if (page.contentRun !== null)
    return (
      <Link href={`/runs/${page.contentRun}/pages/${page.hash}`}>
        {t('itemsElsewhere', { run: String(page.contentRun) })}
      </Link>
    )
  if (page.items.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {t('noItems')}
      </Text>
    )
  return (
    <Stack gap="md">
      {page.items.map((item) => (
        <Stack key={item.n} gap={6}>
          <Text size="sm" fw={600} className="address">
            {item.name}
          </Text>
          <Pairs
            pairs={Object.entries(item.data).map(([name, value]) => [
              name,
              value === null ? '–' : typeof value === 'object' ? JSON.stringify(value) : String(value),
            ])}
          />
        </Stack>
      ))}
      {page.itemCount > page.items.length && (
        <Text size="xs" c="dimmed">
          {t('moreItems', { count: figures.count(page.itemCount - page.items.length) })}
        </Text>
      )}
    </Stack>
  )
}
