import { Code, Text } from '@mantine/core'

/** Paragraphs whose code stands between backticks. */
export function Prose({ text }: { text: string }) {
  return text.split('\n\n').map((paragraph) => (
    <Text key={paragraph} size="sm">
      <Spans text={paragraph} />
    </Text>
  ))
}

export function Spans({ text }: { text: string }) {
  return text.split('`').map((part, at) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text that stays as it is
    at % 2 === 1 ? <Code key={at}>{part}</Code> : part,
  )
}
