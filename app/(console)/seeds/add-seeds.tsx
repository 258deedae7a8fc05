'use client'

import '@mantine/dropzone/styles.css'
import { Button, Group, SegmentedControl, Stack, Text, Textarea, Title } from '@mantine/core'
import { Dropzone } from '@mantine/dropzone'
import { useTranslations } from 'next-intl'
import { type ReactNode, useState } from 'react'
import { UploadIcon } from '../../icons'
import { FileToRead } from './file-to-read'
import { UploadProgress } from './upload-progress'
import { UploadReport } from './upload-report'
import { useUpload } from './use-upload'

/** Seeds come as a file of any size, or pasted; both are read the same way and end in the same report. */
export function AddSeeds({ spider }: { spider: { id: number; name: string } }) {
  const t = useTranslations('addSeeds')
  const [way, setWay] = useState<'file' | 'paste'>('file')
  const [file, setFile] = useState<File | null>(null)
  const [pasted, setPasted] = useState('')
  const upload = useUpload(spider.id)
  const { state } = upload
  if (state.step === 'sending')
    return (
      <Panel>
        <UploadProgress spider={spider.id} sending={state} cancel={upload.cancel} />
      </Panel>
    )
  if (state.step === 'ended')
    return (
      <Panel>
        <UploadReport
          ended={state}
          close={() => {
            if (!state.error) {
              setFile(null)
              setPasted('')
            }
            upload.reset()
          }}
        />
      </Panel>
    )
  if (file)
    return (
      <Panel>
        <FileToRead
          file={file}
          back={() => setFile(null)}
          start={(as) => upload.start(file, { ...as, fileName: file.name })}
        />
      </Panel>
    )
  return (
    <Panel>
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h5">
          {t('title', { spider: spider.name })}
        </Title>
        <SegmentedControl
          size="xs"
          aria-label={t('way')}
          value={way}
          onChange={(value) => setWay(value as typeof way)}
          data={[
            { value: 'file', label: t('file') },
            { value: 'paste', label: t('paste') },
          ]}
        />
      </Group>
      {way === 'file' ? (
        <Dropzone
          onDrop={([first]) => first && setFile(first)}
          multiple={false}
          inputProps={{ 'aria-label': t('drop') }}
        >
          <Stack align="center" gap={4} py="md" style={{ pointerEvents: 'none' }}>
            <UploadIcon />
            <Text fw={600} ta="center">
              {t('drop')}
            </Text>
            <Text size="sm" c="dimmed" ta="center" maw={560}>
              {t('dropText')}
            </Text>
          </Stack>
        </Dropzone>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (pasted.trim())
              upload.start(new Blob([pasted]), {
                fileName: t('pastedName'),
                wholeOnly: false,
                encoding: 'utf-8',
              })
          }}
        >
          <Stack gap="sm">
            <Textarea
              label={t('pasteLabel')}
              description={t('pasteText')}
              placeholder="https://example.com/"
              value={pasted}
              onChange={(event) => setPasted(event.currentTarget.value)}
              autosize
              minRows={4}
              maxRows={14}
              spellCheck={false}
              styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
            />
            <Group justify="flex-end">
              <Button type="submit" disabled={!pasted.trim()}>
                {t('add')}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Panel>
  )
}

function Panel({ children }: { children: ReactNode }) {
  return (
    <Stack className="panel" p="md" gap="sm">
      {children}
    </Stack>
  )
}
