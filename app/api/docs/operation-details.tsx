'use client'

import { Anchor, Box, Code, Group, Stack, Text } from '@mantine/core'
import { useTranslations } from 'next-intl'
import type { ReactNode } from 'react'
import type { ReferenceOperation, ReferenceParameter } from '../../../server/api/v1/reference'
import { Tag } from '../../tag'
import { CodeBlock } from './code-block'
import { Prose, Spans } from './prose'

const COLORS: Record<string, string> = {
  GET: 'blue',
  POST: 'green',
  PUT: 'orange',
  PATCH: 'orange',
  DELETE: 'red',
}

export function MethodTag({ method }: { method: string }) {
  return (
    <Box w={64} style={{ flexShrink: 0 }}>
      <Tag color={COLORS[method] ?? 'gray'}>{method}</Tag>
    </Box>
  )
}

export function OperationDetails({ operation }: { operation: ReferenceOperation }) {
  const t = useTranslations('apiDocs')
  const { id, description, parameters, body, answer, status, role, curl } = operation
  return (
    <Stack gap="md" py="xs">
      {description && <Prose text={description} />}
      <Group gap="md">
        <Text size="sm" c="dimmed">
          {t('role', { role: t(`roles.${role as 'viewer' | 'operator' | 'admin'}`) })}
        </Text>
        <Anchor href={`#${id}`} size="sm">
          {t('address', { id })}
        </Anchor>
      </Group>
      {parameters.length > 0 && (
        <Part title={t('parameters')}>
          <Stack gap="xs" component="dl" m={0}>
            {parameters.map((parameter) => (
              <ParameterLine key={`${parameter.in} ${parameter.name}`} parameter={parameter} />
            ))}
          </Stack>
        </Part>
      )}
      {body !== null && (
        <Part title={t('body')}>
          <CodeBlock text={body} label={t('body')} />
        </Part>
      )}
      <Part title={t('answer', { status })}>
        {answer === null ? (
          <Text size="sm" c="dimmed">
            {t('nothing')}
          </Text>
        ) : (
          <CodeBlock text={answer} label={t('answer', { status })} />
        )}
      </Part>
      <Part title={t('try')}>
        <CodeBlock text={curl} label={t('try')} />
      </Part>
    </Stack>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack gap={6}>
      <Text size="sm" fw={600} component="h4" m={0}>
        {title}
      </Text>
      {children}
    </Stack>
  )
}

function ParameterLine({ parameter }: { parameter: ReferenceParameter }) {
  const t = useTranslations('apiDocs')
  return (
    <div>
      <Group component="dt" gap="xs">
        <Code fw={600}>{parameter.name}</Code>
        <Text size="sm" c="dimmed" ff="monospace" className="address">
          {parameter.type}
        </Text>
        <Text size="xs" c="dimmed">
          {t(`in.${parameter.in}`)}
          {parameter.required ? ` · ${t('required')}` : ''}
        </Text>
      </Group>
      {parameter.description && (
        <Text component="dd" m={0} size="sm">
          <Spans text={parameter.description} />
        </Text>
      )}
    </div>
  )
}
