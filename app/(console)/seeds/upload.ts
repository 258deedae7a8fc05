import type { ColumnChoice } from '../../../server/services/seed-columns'
import type { ImportReport } from '../../../server/services/seeds'
import type { Encoding } from '../../../server/services/text-lines'
import type { Failure } from '../../fault-words'

export interface UploadAs {
  spider: number
  fileName: string
  /** Nothing of the file is kept when one line can't be used. */
  wholeOnly: boolean
  encoding?: Encoding
  columns?: ColumnChoice
}

export interface Upload {
  /** What became of the file. Rejects with a `Failure`, or with null when it was cancelled. */
  report: Promise<ImportReport>
  cancel(): void
}

/** Sends a file as it is; `onSent` hears how many bytes have left. Not with `fetch`, which tells no progress. */
export function uploadSeeds(file: Blob, as: UploadAs, onSent: (bytes: number) => void): Upload {
  const request = new XMLHttpRequest()
  const report = new Promise<ImportReport>((resolve, reject) => {
    request.upload.onprogress = (event) => onSent(event.loaded)
    request.onload = () => {
      const answer = request.response as ImportReport & { error?: Failure }
      if (request.status === 200 && answer) resolve(answer)
      else reject(answer?.error ?? { message: `HTTP ${request.status}` })
    }
    request.onerror = () => reject({ message: '' })
    request.onabort = () => reject(null)
  })
  request.open('POST', `/api/seeds/file?as=${encodeURIComponent(JSON.stringify(as))}`)
  request.responseType = 'json'
  request.setRequestHeader('content-type', 'application/octet-stream')
  request.send(file)
  return { report, cancel: () => request.abort() }
}
