'use client'

import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { postAuth } from '../../auth-request'
import { BackupCodes, PasswordStep, SecondFactorSetup, useRefusalWords } from '../../second-factor-setup'
import { Tag } from '../../tag'
import { useTRPC } from '../../trpc'

type Doing = 'setUp' | 'renew' | 'turnOff'

/** One's own second factor: set up, turned off, and given new backup codes. */
export function SecondFactor({ isOn }: { isOn: boolean }) {
  const t = useTranslations('secondFactor')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const [doing, setDoing] = useState<Doing>()
  const done = () => {
    setDoing(undefined)
    return queryClient.invalidateQueries({ queryKey: trpc.session.pathKey() })
  }
  const cancel = () => setDoing(undefined)
  const choice = (what: Doing) => (
    <Button variant="default" onClick={() => setDoing(what)}>
      {t(what)}
    </Button>
  )
  return (
    <Stack className="panel" p="md" gap="sm" component="section" maw={520} w="100%">
      <Group gap="xs">
        <Title order={2} size="h5">
          {t('title')}
        </Title>
        <Tag color={isOn ? 'teal' : 'gray'}>{t(isOn ? 'on' : 'off')}</Tag>
      </Group>
      <Text size="sm" c="dimmed">
        {t('text')}
      </Text>
      {doing === undefined && (
        <Group gap="xs">
          {isOn ? (
            <>
              {choice('renew')}
              {choice('turnOff')}
            </>
          ) : (
            choice('setUp')
          )}
        </Group>
      )}
      {doing === 'setUp' && <SecondFactorSetup done={done} cancel={cancel} />}
      {doing === 'renew' && <NewCodes done={done} cancel={cancel} />}
      {doing === 'turnOff' && <TurnOff done={done} cancel={cancel} />}
    </Stack>
  )
}

function NewCodes({ done, cancel }: { done: () => void; cancel: () => void }) {
  const t = useTranslations('secondFactor')
  const words = useRefusalWords()
  const [password, setPassword] = useState('')
  const make = useMutation({
    mutationFn: () => postAuth<{ backupCodes: string[] }>('two-factor/generate-backup-codes', { password }),
  })
  if (make.isSuccess) return <BackupCodes codes={make.data.backupCodes} done={done} />
  return (
    <PasswordStep
      password={password}
      change={setPassword}
      go={() => make.mutate()}
      words={t('renew')}
      cancel={cancel}
      isPending={make.isPending}
      error={make.error && { message: words(make.error) }}
    />
  )
}

function TurnOff({ done, cancel }: { done: () => void; cancel: () => void }) {
  const t = useTranslations('secondFactor')
  const words = useRefusalWords()
  const [password, setPassword] = useState('')
  const turnOff = useMutation({
    mutationFn: () => postAuth('two-factor/disable', { password }),
    onSuccess: done,
  })
  return (
    <PasswordStep
      password={password}
      change={setPassword}
      go={() => turnOff.mutate()}
      words={t('turnOff')}
      cancel={cancel}
      isPending={turnOff.isPending}
      error={turnOff.error && { message: words(turnOff.error) }}
    />
  )
}
