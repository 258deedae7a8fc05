import type { Metadata } from 'next'
import { getLocale, getTranslations } from 'next-intl/server'
import { apiReference } from '../../server-caller'
import { DocsFrame } from './docs-frame'
import { ReferenceList } from './reference-list'

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('apiDocs'))('title') }
}

/** The API for people. It is open to all, since it is the same everywhere and tells nothing of this installation. */
export default async function ApiDocsPage() {
  const reference = apiReference((await getLocale()) as 'en' | 'zh-CN')
  return (
    <DocsFrame groups={reference.groups.map(({ id, title }) => ({ id, title }))}>
      <ReferenceList reference={reference} />
    </DocsFrame>
  )
}
