'use client'

import { Alert, Anchor, Box, Button, Group, Stack, Table, Text } from '@mantine/core'
import { useTranslations } from 'next-intl'
import { useFaultWords } from '../../fault-words'
import { useFigures } from '../../figures'
import { WarningIcon } from '../../icons'
import type { Ended } from './use-upload'

const SHOWN = 10

/** What became of a file: how many were taken, and which lines were not, with the reason. */
export function UploadReport({
  ended: { report, error, fileName },
  close,
}: {
  ended: Ended
  close: () => void
}) {
  const t = useTranslations('upload')
  const figures = useFigures()
  const words = useFaultWords()
  const button = (
    <Group justify="flex-end">
      <Button variant="default" onClick={close}>
        {t(report?.kept ? 'more' : 'back')}
      </Button>
    </Group>
  )
  if (!report)
    return (
      <Stack gap="sm">
        <Alert
          color={error === null ? 'gray' : 'red'}
          variant="light"
          icon={<WarningIcon />}
          title={t(error === null ? 'cancelled' : 'failed', { file: fileName })}
          role="alert"
        >
          <Text size="sm" className="address">
            {error === null ? t('cancelledText') : words(error) || t('broken')}
          </Text>
        </Alert>
        {button}
      </Stack>
    )
  return (
    <Stack gap="sm">
      <Alert
        color={!report.kept ? 'red' : report.rejected > 0 ? 'orange' : 'teal'}
        variant="light"
        title={t(report.kept ? 'done' : 'notKept', { file: fileName })}
        role="status"
      >
        <Text size="sm" className="figures">
          {t(report.kept ? 'figures' : 'notKeptText', {
            accepted: figures.count(report.accepted),
            duplicates: figures.count(report.duplicates),
            rejected: figures.count(report.rejected),
            rows: figures.count(report.rows),
          })}
        </Text>
      </Alert>
      {report.report.length > 0 && (
        <>
          <Group justify="space-between" gap="xs">
            <Text size="sm" fw={600}>
              {t('rejected', { count: figures.count(report.rejected) })}
            </Text>
            <Anchor size="sm" href={`/api/seeds/rejected/${report.id}`} download>
              {t('download', { count: figures.count(report.report.length) })}
            </Anchor>
          </Group>
          <Box style={{ overflowX: 'auto' }}>
            <Table fz="sm" verticalSpacing={4} className="figures">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th ta="right">{t('line')}</Table.Th>
                  <Table.Th>{t('text')}</Table.Th>
                  <Table.Th>{t('reason')}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {report.report.slice(0, SHOWN).map((one) => (
                  <Table.Tr key={one.line}>
                    <Table.Td ta="right">{figures.count(one.line)}</Table.Td>
                    <Table.Td className="address" maw={360}>
                      {one.text}
                    </Table.Td>
                    <Table.Td className="address">{one.reason}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Box>
        </>
      )}
      {button}
    </Stack>
  )
}
