import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useFigures } from '../../../figures'
import { useTRPC } from '../../../trpc'

/** How the run's pages compare with the visit before; nothing for a run that does not compare. */
export function Revisits({ id, live }: { id: number; live: boolean }) {
  const t = useTranslations('run')
  const figures = useFigures()
  const trpc = useTRPC()
  const { data } = useQuery({
    ...trpc.runs.revisits.queryOptions({ id }),
    refetchInterval: live ? 5_000 : false,
  })
  if (!data || data.unchanged + data.gone + data.notDue === 0) return null
  return (
    <Text size="sm" c="dimmed">
      {t('revisits', {
        unchanged: figures.count(data.unchanged),
        gone: figures.count(data.gone),
        notDue: figures.count(data.notDue),
      })}
    </Text>
  )
}
