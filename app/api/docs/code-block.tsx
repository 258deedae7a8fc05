'use client'

import { Box, Button, Code, CopyButton } from '@mantine/core'
import { useTranslations } from 'next-intl'

/** Code to read and to copy; `label` says what it is. */
export function CodeBlock({ text, label, id }: { text: string; label: string; id?: string }) {
  const t = useTranslations('shownOnce')
  return (
    <Box pos="relative" id={id}>
      <Code
        block
        tabIndex={0}
        role="region"
        aria-label={label}
        style={{ overflowX: 'auto', border: '1px solid var(--line)' }}
        pr={84}
      >
        {text}
      </Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button
            onClick={copy}
            variant="default"
            size="compact-xs"
            pos="absolute"
            top={6}
            right={6}
            aria-label={`${t('copy')}: ${label}`}
          >
            {t(copied ? 'copied' : 'copy')}
          </Button>
        )}
      </CopyButton>
    </Box>
  )
}
