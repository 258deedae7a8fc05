'use client'

import {
  Button,
  Group,
  Modal,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  TextInput,
} from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useLocale, useTranslations } from 'next-intl'
import { useState } from 'react'
import { LOCALES } from '../../locales'
import { MutationError } from '../../query-state'
import { useTRPC } from '../../trpc'
import {
  beginWith,
  CHANNEL_FIELDS,
  CHANNEL_KINDS,
  type Channel,
  type ChannelInput,
  type ChannelKind,
  type Field,
  missingFields,
  settingsOf,
  type Values,
} from './channel-fields'

/** A new channel, or one that is there. `channel` null: a new one; undefined: closed. */
export function ChannelModal({
  channel,
  close,
  saved,
}: {
  channel: Channel | null | undefined
  close: () => void
  saved: (id: number) => void
}) {
  const t = useTranslations('channels')
  return (
    <Modal
      opened={channel !== undefined}
      onClose={close}
      title={channel ? t('editTitle', { name: channel.name }) : t('newTitle')}
      centered
      size="lg"
      closeButtonProps={{ 'aria-label': t('cancel') }}
    >
      {channel !== undefined && <ChannelForm channel={channel} close={close} saved={saved} />}
    </Modal>
  )
}

function ChannelForm({
  channel,
  close,
  saved,
}: {
  channel: Channel | null
  close: () => void
  saved: (id: number) => void
}) {
  const t = useTranslations('channels')
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const locale = useLocale() as ChannelInput['language']
  const [kind, setKind] = useState<ChannelKind>(channel?.kind ?? 'webhook')
  const [name, setName] = useState(channel?.name ?? '')
  const [language, setLanguage] = useState(channel?.language ?? locale)
  const [enabled, setEnabled] = useState(channel?.enabled ?? true)
  const [values, setValues] = useState(() => beginWith(kind, channel))
  const save = useMutation(
    trpc.alerts.saveChannel.mutationOptions({
      onSuccess: async ({ id }) => {
        await queryClient.invalidateQueries({ queryKey: trpc.alerts.pathKey() })
        saved(id)
        close()
      },
    }),
  )
  const kept = channel?.kept ?? []
  const whole = name.trim() !== '' && missingFields(kind, values, kept).length === 0
  return (
    <form
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault()
        const settings = settingsOf(kind, values)
        if (whole)
          save.mutate({ ...(channel && { id: channel.id }), kind, name, enabled, language, settings })
      }}
    >
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" verticalSpacing="sm">
          <Select
            label={t('kind')}
            data={CHANNEL_KINDS.map((one) => ({ value: one, label: t(`kinds.${one}`) }))}
            value={kind}
            disabled={channel !== null}
            allowDeselect={false}
            onChange={(next) => {
              setKind(next as ChannelKind)
              setValues(beginWith(next as ChannelKind, null))
            }}
            data-autofocus
          />
          <TextInput
            label={t('name')}
            value={name}
            maxLength={100}
            onChange={(event) => setName(event.currentTarget.value)}
            required
            withAsterisk={false}
          />
        </SimpleGrid>
        {CHANNEL_FIELDS[kind].map((field) => (
          <ChannelField
            key={`${kind} ${field.name}`}
            field={field}
            kept={kept.includes(field.name)}
            value={values[field.name]}
            edit={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
          />
        ))}
        <Select
          label={t('language')}
          description={t('languageText')}
          data={Object.entries(LOCALES).map(([value, label]) => ({ value, label }))}
          value={language}
          allowDeselect={false}
          onChange={(next) => setLanguage(next as ChannelInput['language'])}
        />
        <Switch
          label={t('enabled')}
          description={t('enabledText')}
          checked={enabled}
          onChange={(event) => setEnabled(event.currentTarget.checked)}
        />
        <MutationError error={save.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close}>
            {t('cancel')}
          </Button>
          <Button type="submit" disabled={!whole} loading={save.isPending}>
            {t('save')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function ChannelField({
  field: { name, type, optional, help, placeholder },
  kept,
  value,
  edit,
}: {
  field: Field
  /** Whether the server has this secret already. */
  kept: boolean
  value: Values[keyof Values]
  edit: (value: string | number | string[]) => void
}) {
  const t = useTranslations('channels')
  const common = {
    label: optional ? t('optional', { field: t(`fields.${name}`) }) : t(`fields.${name}`),
    description: help && t(`help.${help}`),
    placeholder: kept ? t('kept') : placeholder,
  }
  if (type === 'number')
    return (
      <NumberInput
        {...common}
        value={value as number}
        onChange={edit}
        min={1}
        max={65_535}
        allowDecimal={false}
        hideControls
      />
    )
  if (type === 'security')
    return (
      <Select
        {...common}
        data={(['starttls', 'tls', 'none'] as const).map((one) => ({
          value: one,
          label: t(`security.${one}`),
        }))}
        value={value as string}
        allowDeselect={false}
        onChange={(next) => edit(next!)}
      />
    )
  if (type === 'addresses')
    return (
      <TagsInput
        {...common}
        description={t('toText')}
        value={value as string[]}
        onChange={edit}
        splitChars={[',', ';', ' ']}
        acceptValueOnBlur
        clearButtonProps={{ 'aria-label': t('clear') }}
      />
    )
  return (
    <TextInput
      {...common}
      value={value as string}
      maxLength={2000}
      spellCheck={false}
      // Browsers must not offer to keep what is no password of this page.
      autoComplete={type === 'secret' ? 'one-time-code' : 'off'}
      onChange={(event) => edit(event.currentTarget.value)}
      {...(name === 'secret' &&
        !optional && {
          rightSectionWidth: 110,
          rightSection: (
            <Button size="compact-xs" variant="subtle" onClick={() => edit(randomSecret())}>
              {t('make')}
            </Button>
          ),
        })}
    />
  )
}

const randomSecret = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(24)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
