import { redirect } from 'next/navigation'
import type { ReactNode } from 'react'
import { LiveProvider } from '../live'
import { Prefetched, prefetch, readPerson, serverTrpc } from '../server-caller'
import { Shell } from './shell'

/** All pages for signed-in people. The redirect is a courtesy: what protects the data is the check in each procedure. */
export default async function ConsoleLayout({ children }: { children: ReactNode }) {
  const person = await readPerson()
  if (!person) redirect('/sign-in')
  if (person.owesSecondFactor) redirect('/second-factor')
  await prefetch(serverTrpc().session.me.queryOptions())
  return (
    <Prefetched>
      <LiveProvider>
        <Shell>{children}</Shell>
      </LiveProvider>
    </Prefetched>
  )
}
