import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { ImportReport } from '../../../server/services/seeds'
import type { Failure } from '../../fault-words'
import { useTRPC } from '../../trpc'
import { type Upload, type UploadAs, uploadSeeds } from './upload'

export interface Sending {
  step: 'sending'
  fileName: string
  size: number
  sent: number
}

export interface Ended {
  step: 'ended'
  fileName: string
  report: ImportReport | null
  /** Why there is no report; its message is empty when the connection broke; null for none or a cancel. */
  error: Failure | null
}

/** One upload at a time, from its begin to what became of it. Leaving the browser's page is asked for while it runs. */
export function useUpload(spider: number) {
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const [state, setState] = useState<{ step: 'none' } | Sending | Ended>({ step: 'none' })
  const running = useRef<Upload | null>(null)

  useEffect(() => {
    if (state.step !== 'sending') return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [state.step])

  return {
    state,
    reset: () => setState({ step: 'none' }),
    cancel: () => running.current?.cancel(),
    start(file: Blob, as: Omit<UploadAs, 'spider'>) {
      const { fileName } = as
      setState({ step: 'sending', fileName, size: file.size, sent: 0 })
      running.current = uploadSeeds(file, { ...as, spider }, (sent) =>
        setState((before) => (before.step === 'sending' ? { ...before, sent } : before)),
      )
      running.current.report
        .then(
          (report) => setState({ step: 'ended', fileName, report, error: null }),
          (error: Failure | null) => setState({ step: 'ended', fileName, report: null, error }),
        )
        .finally(() => queryClient.invalidateQueries({ queryKey: trpc.seeds.pathKey() }))
    },
  }
}
