'use client'

import { useMessages, useTranslations } from 'next-intl'

/** `run.start` stands in messages/ as `run_start`: a dot leads a level deeper there. */
const keyOf = (action: string) => action.replaceAll('.', '_')

/** What was done, in words; as it is stored where a newer server knows more than this page. */
export function useActionWords() {
  const t = useTranslations('auditActions') as unknown as ((key: string) => string) & {
    has(key: string): boolean
  }
  const { auditActions } = useMessages() as unknown as { auditActions: Record<string, string> }
  return {
    word: (action: string) => (t.has(keyOf(action)) ? t(keyOf(action)) : action),
    list: Object.entries(auditActions).map(([key, label]) => ({ value: key.replaceAll('_', '.'), label })),
  }
}
