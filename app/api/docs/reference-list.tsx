'use client'

import { Accordion, Anchor, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { useTranslations } from 'next-intl'
import { useEffect, useState } from 'react'
import type { Reference, ReferenceOperation } from '../../../server/api/v1/reference'
import { SearchIcon } from '../../icons'
import { Link } from '../../link'
import { EmptyList } from '../../list-frame'
import { PageTitle } from '../../page-title'
import { CodeBlock } from './code-block'
import { MethodTag, OperationDetails } from './operation-details'
import { Prose } from './prose'

/** Everything there is to ask, by group; an operation opens to its details, and has an address of its own. */
export function ReferenceList({ reference }: { reference: Reference }) {
  const t = useTranslations('apiDocs')
  const [search, setSearch] = useState('')
  const [opened, setOpened] = useState<string[]>([])
  const [origin, setOrigin] = useState('')
  useEffect(() => {
    setOrigin(location.origin)
    const asked = location.hash.slice(1)
    if (asked === '') return
    setOpened([asked])
    document.getElementById(asked)?.scrollIntoView()
  }, [])
  const groups = reference.groups
    .map((group) => ({ ...group, operations: group.operations.filter((one) => answers(one, search)) }))
    .filter(({ operations }) => operations.length > 0)
  return (
    <Stack gap="xl">
      <PageTitle title={t('title')} text={t('text')} />
      <Stack className="panel" p="md" gap="sm">
        <Prose text={reference.introduction} />
        <CodeBlock text={`export ORBWEAVER=${origin}\nexport KEY=orb_…`} label={t('setup')} />
        <Group gap="md">
          <Link href="/settings/keys">{t('makeKey')}</Link>
          <Anchor href="/api/v1/openapi.json" size="sm">
            {t('document')}
          </Anchor>
          <Anchor href="/api/v1/typescript" size="sm" download="orbweaver.ts">
            {t('client')}
          </Anchor>
        </Group>
      </Stack>
      <TextInput
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
        placeholder={t('search')}
        aria-label={t('search')}
        leftSection={<SearchIcon />}
      />
      {groups.length === 0 && <EmptyList>{t('none')}</EmptyList>}
      {groups.map(({ id, title, description, operations }) => (
        <Stack key={id} component="section" gap="sm" id={id} aria-labelledby={`${id}-title`}>
          <div>
            <Title order={2} size="h4" id={`${id}-title`}>
              {title}
            </Title>
            <Text size="sm" c="dimmed">
              {description}
            </Text>
          </div>
          <Accordion
            multiple
            variant="contained"
            value={opened}
            onChange={setOpened}
            className="panel"
            order={3}
            transitionDuration={0}
            styles={{ label: { paddingBlock: 6 }, item: { backgroundColor: 'transparent' } }}
          >
            {operations.map((operation) => (
              <Accordion.Item key={operation.id} value={operation.id} id={operation.id}>
                <Accordion.Control px="sm">
                  <Head operation={operation} />
                </Accordion.Control>
                <Accordion.Panel>
                  {opened.includes(operation.id) && <OperationDetails operation={operation} />}
                </Accordion.Panel>
              </Accordion.Item>
            ))}
          </Accordion>
        </Stack>
      ))}
      <Stack component="section" gap="sm" id="schemas">
        <Title order={2} size="h4">
          {t('schemas')}
        </Title>
        {reference.schemas.map(({ name, type }) => (
          <CodeBlock key={name} text={`interface ${name} ${type}`} label={name} id={`schema-${name}`} />
        ))}
      </Stack>
    </Stack>
  )
}

function answers({ id, method, path, summary }: ReferenceOperation, search: string): boolean {
  const text = `${id} ${method} ${path} ${summary}`.toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

function Head({ operation: { method, path, summary } }: { operation: ReferenceOperation }) {
  return (
    <Group gap="sm" wrap="nowrap" align="flex-start">
      <MethodTag method={method} />
      <Group gap={0} style={{ columnGap: 'var(--mantine-spacing-sm)' }} miw={0}>
        <Text ff="monospace" size="sm" fw={600} className="address" component="span">
          {path}
        </Text>
        <Text size="sm" c="dimmed" component="span">
          {summary}
        </Text>
      </Group>
    </Group>
  )
}
