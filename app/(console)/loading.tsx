import { SimpleGrid, Skeleton, Stack } from '@mantine/core'
import { Lines } from '../query-state'

/** The frame of any page while its first data is on the way. */
export default function Loading() {
  return (
    <Stack gap="md" aria-busy="true">
      <Skeleton height={28} width={180} />
      <SimpleGrid cols={{ base: 2, md: 3, lg: 5 }} spacing="sm">
        <Skeleton height={104} radius="md" />
        <Skeleton height={104} radius="md" />
        <Skeleton height={104} radius="md" />
        <Skeleton height={104} radius="md" />
        <Skeleton height={104} radius="md" />
      </SimpleGrid>
      <Lines count={8} />
    </Stack>
  )
}
