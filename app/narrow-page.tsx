import { Box, Center, Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { LogoIcon } from './icons'
import { LanguageMenu, ThemeMenu } from './preferences'

/** The frame of the pages outside the console: signing in, welcome, not found. */
export function NarrowPage({
  title,
  text,
  children,
}: {
  title: string
  text?: ReactNode
  children?: ReactNode
}) {
  return (
    <Box component="main" mih="100vh" p="md">
      <Group justify="flex-end" gap={4}>
        <LanguageMenu />
        <ThemeMenu />
      </Group>
      <Center mih="75vh">
        <Stack w="100%" maw={420} gap="lg">
          <Group gap="xs" justify="center">
            <LogoIcon size={34} />
            <Text fz={24} fw={650}>
              Orbweaver
            </Text>
          </Group>
          <Stack className="panel" p="xl" gap="md">
            <div>
              <Title order={1} size="h4">
                {title}
              </Title>
              {text && (
                <Text size="sm" c="dimmed" mt={4}>
                  {text}
                </Text>
              )}
            </div>
            {children}
          </Stack>
        </Stack>
      </Center>
    </Box>
  )
}
