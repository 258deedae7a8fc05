'use client'

import { AreaChart, ChartTooltip } from '@mantine/charts'
import { Box, Group, Skeleton, Table, Text, VisuallyHidden } from '@mantine/core'
import { useTranslations } from 'next-intl'
import { useId } from 'react'
import { useFigures } from '../figures'

interface Line<Key extends string> {
  key: Key
  label: string
  colour: string
}

const HEIGHT = 200
/** Rows of the table that says the same as the chart. */
const ROWS = 12

/** Figures over time. What the picture shows stands beside it in words, and as a table for those who want the numbers. */
export function TimeChart<Key extends string>({
  title,
  unit,
  lines,
  points,
  rangeMs,
  share = false,
}: {
  title: string
  unit: string
  lines: Line<Key>[]
  points: ({ at: number } & Record<Key, number | null>)[]
  rangeMs: number
  /** The values are shares of one, shown in per cent. */
  share?: boolean
}) {
  const t = useTranslations('charts')
  const figures = useFigures()
  const id = useId()
  const now = points.at(-1)
  const series = lines.map((line) => ({ name: line.key, label: line.label, color: line.colour }))
  const label = (at: unknown) => figures.moment(Number(at))
  const words = (value: number | null) => (share ? figures.percent(value) : figures.rate(value))
  return (
    <Box component="figure" className="panel" p="md" m={0} miw={0} aria-labelledby={id}>
      <Group justify="space-between" gap="xs" mb="xs" component="figcaption">
        <Text size="sm" fw={600} id={id}>
          {title}{' '}
          <Text span size="sm" c="dimmed" fw={400}>
            ({unit})
          </Text>
        </Text>
        <Group gap="md">
          {lines.map((line) => (
            <Group key={line.key} gap={6} wrap="nowrap">
              <Box w={10} h={10} bg={line.colour} style={{ borderRadius: 3 }} aria-hidden />
              <Text size="xs" c="dimmed" className="figures">
                {line.label}: {words(now?.[line.key] ?? null)}
              </Text>
            </Group>
          ))}
        </Group>
      </Group>
      {points.length < 2 ? (
        <Group h={HEIGHT} justify="center">
          <Text size="sm" c="dimmed">
            {t('soon')}
          </Text>
        </Group>
      ) : (
        <div aria-hidden="true">
          <AreaChart
            h={HEIGHT}
            data={points.map((point) => ({ ...point }))}
            dataKey="at"
            series={series}
            curveType="linear"
            withDots={false}
            fillOpacity={0.12}
            strokeWidth={1.6}
            connectNulls={false}
            gridAxis="x"
            tickLine="none"
            xAxisProps={{
              type: 'number',
              scale: 'time',
              domain: ['dataMin', 'dataMax'],
              tickFormatter: (at: number) => figures.tick(at, rangeMs),
              minTickGap: 48,
            }}
            yAxisProps={{ width: 48, allowDecimals: share, ...(share && { domain: [0, 1] }) }}
            valueFormatter={(value) => words(value)}
            areaProps={{ isAnimationActive: false }}
            areaChartProps={{ accessibilityLayer: false }}
            tooltipAnimationDuration={0}
            tooltipProps={{
              content: ({ active, label: at, payload }) =>
                active ? (
                  <ChartTooltip
                    label={label(at)}
                    payload={[...(payload ?? [])]}
                    series={series}
                    valueFormatter={(value) => words(value)}
                  />
                ) : null,
            }}
          />
        </div>
      )}
      <VisuallyHidden>
        <Table aria-labelledby={id}>
          <thead>
            <tr>
              <th scope="col">{t('time')}</th>
              {lines.map((line) => (
                <th scope="col" key={line.key}>
                  {line.label} ({unit})
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {thinned(points).map((point) => (
              <tr key={point.at}>
                <th scope="row">{label(point.at)}</th>
                {lines.map((line) => (
                  <td key={line.key}>{words(point[line.key])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </Table>
      </VisuallyHidden>
    </Box>
  )
}

/** Evenly chosen points, the newest among them. */
function thinned<Point>(points: Point[]): Point[] {
  const step = Math.max(1, Math.ceil(points.length / ROWS))
  return points.filter((_, index) => (points.length - 1 - index) % step === 0)
}

export const ChartSkeleton = () => <Skeleton height={HEIGHT + 60} radius="md" />
