import { useTranslations } from 'next-intl'
import type { Fault } from '../core/errors'

/** What a query or a change failed with; errors of the API carry `data`. */
export interface Failure {
  message: string
  data?: { fault?: Fault | undefined } | null
}

/** What is wrong, in the reader's language where the console has words for it; else the server's sentence. */
export function useFaultWords(): (failure: Failure) => string {
  const t = useTranslations('fault')
  return ({ message, data }) => {
    const fault = data?.fault
    // A server that is newer than this page may know faults that the page does not.
    return fault && t.has(fault.code) ? t(fault.code, { ...fault.values } as never) : message
  }
}
