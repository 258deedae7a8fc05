import { Anchor, Box, Group, Text } from '@mantine/core'
import NextLink from 'next/link'
import type { ReactNode } from 'react'

/** One figure: its name, the number with its unit, and what it is made of. */
export function StatCard({
  label,
  value,
  unit,
  detail,
  colour,
  href,
}: {
  label: string
  value: ReactNode
  unit?: string
  detail?: ReactNode
  colour?: string | undefined
  /** Where the figure is explained. */
  href?: string
}) {
  return (
    <Box className="panel" p="md" component="section" aria-label={label} miw={0}>
      <Text size="sm" c="dimmed">
        {href ? (
          <Anchor component={NextLink} href={href} size="sm" c="dimmed" underline="hover">
            {label}
          </Anchor>
        ) : (
          label
        )}
      </Text>
      <Group gap={6} align="baseline" wrap="nowrap" mt={2}>
        <Text className="figures" fz={28} fw={650} lh={1.25} c={colour}>
          {value}
        </Text>
        {unit && (
          <Text size="sm" c="dimmed">
            {unit}
          </Text>
        )}
      </Group>
      <Text size="xs" c="dimmed" className="figures" mih={18} component="div">
        {detail}
      </Text>
    </Box>
  )
}
