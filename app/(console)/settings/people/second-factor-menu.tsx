'use client'

import { Button, Menu } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { ConfirmModal } from '../../../confirm-modal'
import { MutationError } from '../../../query-state'
import { useTRPC } from '../../../trpc'

/** Whether a second factor is asked of somebody, and taking theirs away. */
export function SecondFactorMenu({
  person: { id, name, hasSecondFactor, secondFactorRequired },
}: {
  person: { id: string; name: string; hasSecondFactor: boolean; secondFactorRequired: boolean }
}) {
  const t = useTranslations('people')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const [asking, setAsking] = useState(false)
  const refresh = () => {
    setAsking(false)
    return queryClient.invalidateQueries({ queryKey: trpc.people.pathKey() })
  }
  const ask = useMutation(trpc.people.requireSecondFactor.mutationOptions({ onSuccess: refresh }))
  const reset = useMutation(trpc.people.resetSecondFactor.mutationOptions({ onSuccess: refresh }))
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            size="compact-sm"
            variant="default"
            loading={ask.isPending}
            aria-label={t('secondFactorLabel', { name })}
          >
            {t('secondFactor')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => ask.mutate({ id, required: !secondFactorRequired })}>
            {t(secondFactorRequired ? 'secondFactorFree' : 'secondFactorRequire')}
          </Menu.Item>
          {hasSecondFactor && <Menu.Item onClick={() => setAsking(true)}>{t('secondFactorReset')}</Menu.Item>}
        </Menu.Dropdown>
      </Menu>
      <MutationError error={ask.error} />
      <ConfirmModal
        opened={asking}
        close={() => setAsking(false)}
        title={t('secondFactorResetTitle', { name })}
        text={t('secondFactorResetText')}
        keep={t('keep')}
        confirm={t('secondFactorReset')}
        change={{ run: () => reset.mutate({ id }), isPending: reset.isPending, error: reset.error }}
      />
    </>
  )
}
