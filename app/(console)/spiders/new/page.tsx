import type { Metadata } from 'next'
import { getTranslations } from 'next-intl/server'
import { NewSpider } from '../new-spider'

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations('spiders'))('new') }
}

export default function Page() {
  return <NewSpider />
}
