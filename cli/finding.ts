/** What one check of doctor found. */
export interface Finding {
  state: 'ok' | 'warn' | 'fail'
  /** What was found; with `warn` and `fail` also what to do about it. */
  detail: string
}

export const ok = (detail: string): Finding => ({ state: 'ok', detail })
export const warn = (detail: string): Finding => ({ state: 'warn', detail })
export const fail = (detail: string): Finding => ({ state: 'fail', detail })
