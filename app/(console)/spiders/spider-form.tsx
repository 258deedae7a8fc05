'use client'

import {
  NumberInput,
  Radio,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core'
import { useTranslations } from 'next-intl'
import type { ReactNode } from 'react'
import { DedupeFields } from './dedupe-fields'
import { type Draft, faultAt } from './draft'
import { ItemRules } from './item-rules'
import { RevisitFields } from './revisit-fields'

/** The same in every language. */
const EXAMPLES = { allow: '/products/', deny: '[?&]sort=', header: 'Accept-Language: en' }
const SCOPES = ['host', 'site', 'anywhere', 'none'] as const

/** `faults` begin with their place; each is shown at its field too. */
export function SpiderForm({
  draft,
  setDraft,
  faults,
  isNew,
  readOnly,
}: {
  draft: Draft
  setDraft: (draft: Draft) => void
  faults: string[]
  isNew: boolean
  readOnly: boolean
}) {
  const t = useTranslations('spiderForm')
  const set = <K extends keyof Draft>(key: K, value: Draft[K]) => setDraft({ ...draft, [key]: value })
  const fault = (place: string) => faultAt(faults, place)
  const long = { autosize: true, minRows: 2, maxRows: 10, spellCheck: false } as const
  return (
    <fieldset disabled={readOnly} style={{ border: 0, padding: 0, margin: 0, minWidth: 0 }}>
      <Stack gap="md">
        <Section title={t('what')}>
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <TextInput
              label={t('name')}
              description={t('nameText')}
              value={draft.name}
              onChange={(event) => set('name', event.currentTarget.value)}
              disabled={!isNew}
              error={draft.name !== '' && fault('name')}
              spellCheck={false}
              required={isNew}
              withAsterisk={false}
            />
            <TextInput
              label={t('description')}
              description={t('descriptionText')}
              value={draft.description}
              onChange={(event) => set('description', event.currentTarget.value)}
              error={fault('description')}
            />
          </SimpleGrid>
          <Textarea
            {...long}
            label={t('seeds')}
            description={t('seedsText')}
            placeholder="https://example.com/"
            value={draft.seeds}
            onChange={(event) => set('seeds', event.currentTarget.value)}
            error={fault('seeds')}
          />
        </Section>
        <Section title={t('follow')}>
          <Radio.Group
            label={t('scope')}
            value={draft.scope}
            onChange={(value) => set('scope', value as Draft['scope'])}
          >
            <Stack gap={6} mt={4}>
              {SCOPES.map((scope) => (
                <Radio key={scope} value={scope} label={t(`scopes.${scope}`)} />
              ))}
            </Stack>
          </Radio.Group>
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <Textarea
              {...long}
              label={t('allow')}
              description={t('allowText')}
              placeholder={EXAMPLES.allow}
              value={draft.allow}
              onChange={(event) => set('allow', event.currentTarget.value)}
              error={fault('follow.allow')}
            />
            <Textarea
              {...long}
              label={t('deny')}
              description={t('denyText')}
              placeholder={EXAMPLES.deny}
              value={draft.deny}
              onChange={(event) => set('deny', event.currentTarget.value)}
              error={fault('follow.deny')}
            />
            <NumberInput
              label={t('depth')}
              description={t('depthText')}
              placeholder={t('noLimit')}
              min={0}
              max={10_000}
              allowDecimal={false}
              value={draft.depth ?? ''}
              onChange={(value) => set('depth', value === '' ? null : Number(value))}
              error={fault('follow.depth')}
            />
            <NumberInput
              label={t('maxPages')}
              description={t('maxPagesText')}
              placeholder={t('noLimit')}
              min={1}
              allowDecimal={false}
              thousandSeparator=","
              value={draft.maxPages ?? ''}
              onChange={(value) => set('maxPages', value === '' ? null : Number(value))}
              error={fault('maxPages ')}
            />
            <NumberInput
              label={t('maxPagesPerHost')}
              description={t('maxPagesPerHostText')}
              placeholder={t('noLimit')}
              min={1}
              allowDecimal={false}
              thousandSeparator=","
              value={draft.maxPagesPerHost ?? ''}
              onChange={(value) => set('maxPagesPerHost', value === '' ? null : Number(value))}
              error={fault('maxPagesPerHost')}
            />
          </SimpleGrid>
        </Section>
        <Section title={t('items')}>
          <ItemRules items={draft.items} setItems={(items) => set('items', items)} fault={fault} />
        </Section>
        <Section title={t('manners')}>
          <Switch
            label={t('robots')}
            description={t('robotsText')}
            checked={draft.robots === 'obey'}
            onChange={(event) => set('robots', event.currentTarget.checked ? 'obey' : 'ignore')}
          />
          <Switch
            label={t('private')}
            description={t('privateText')}
            checked={draft.allowPrivate}
            onChange={(event) => set('allowPrivate', event.currentTarget.checked)}
          />
          <Textarea
            {...long}
            label={t('headers')}
            description={t('headersText')}
            placeholder={EXAMPLES.header}
            value={draft.headers}
            onChange={(event) => set('headers', event.currentTarget.value)}
            error={fault('headers')}
          />
        </Section>
        <Section title={t('dedupe')}>
          <DedupeFields dedupe={draft.dedupe} setDedupe={(dedupe) => set('dedupe', dedupe)} fault={fault} />
        </Section>
        <Section title={t('revisit')}>
          <RevisitFields
            revisit={draft.revisit}
            setRevisit={(revisit) => set('revisit', revisit)}
            fault={fault}
          />
        </Section>
        {readOnly && (
          <Text size="sm" c="dimmed">
            {t('readOnly')}
          </Text>
        )}
      </Stack>
    </fieldset>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack className="panel" p="md" gap="sm" component="section" aria-label={title}>
      <Title order={2} size="h5">
        {title}
      </Title>
      {children}
    </Stack>
  )
}
