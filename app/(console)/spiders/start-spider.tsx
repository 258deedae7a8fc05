'use client'

import { Button, Popover, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useTranslations } from 'next-intl'
import { useFaultWords } from '../../fault-words'
import { PlayIcon } from '../../icons'
import { useTRPC } from '../../trpc'
import { useMayChange } from '../may-change'

/** Starts a run from the spider's seeds and leads to it; why it could not be started stands below the button. */
export function StartSpider({
  spider,
  size = 'sm',
}: {
  spider: { id: number; name: string }
  size?: 'sm' | 'compact-sm'
}) {
  const t = useTranslations('spiders')
  const trpc = useTRPC()
  const router = useRouter()
  const words = useFaultWords()
  const mayChange = useMayChange()
  const start = useMutation(
    trpc.runs.start.mutationOptions({ onSuccess: ({ id }) => router.push(`/runs/${id}`) }),
  )
  if (!mayChange) return null
  return (
    <Popover opened={start.isError} onDismiss={start.reset} width={320} position="bottom-end" withArrow>
      <Popover.Target>
        <Button
          size={size}
          variant="default"
          leftSection={<PlayIcon />}
          loading={start.isPending || start.isSuccess}
          onClick={() => start.mutate({ spider: spider.id })}
          aria-label={t('startLabel', { name: spider.name })}
        >
          {t('start')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Text size="sm" role="alert" className="address">
          {start.error && words(start.error)}
        </Text>
      </Popover.Dropdown>
    </Popover>
  )
}
