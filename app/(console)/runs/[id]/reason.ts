import { useTranslations } from 'next-intl'
import type { PageView } from '../../../../server/services/page-list'

/** What happened to a page in plain words; null for one that was simply done. */
export function useReason(): (page: Pick<PageView, 'reason' | 'detail'>) => string | null {
  const t = useTranslations('reason')
  return ({ reason, detail }) => {
    if (reason === null) return null
    const status = /^http_(\d+)$/.exec(reason)?.[1]
    if (status) return t('http', { status })
    const key = reason as Parameters<typeof t.has>[0]
    return t.has(key) ? t(key as 'dns') : t('other', { reason, detail: detail ?? '' })
  }
}
