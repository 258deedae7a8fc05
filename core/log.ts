import pino from 'pino'
import { env } from './env'

/**
 * Structured log of a process: one JSON object a line on stderr, times in ISO 8601 UTC.
 * stdout stays free for results (`--json`, `--out -`). Passwords never reach it: connection strings are
 * logged through `redactUrl`, and the usual secret fields are censored here as a second line of defence.
 */
export function openLog(processName: string): pino.Logger {
  return pino(
    {
      name: processName,
      level: env().LOG_LEVEL,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: ['password', '*.password', 'secret', '*.secret', 'headers.authorization', 'headers.cookie'],
        censor: '[secret]',
      },
    },
    pino.destination({ fd: 2, sync: false }),
  )
}

export type Log = pino.Logger

/** A connection string that is safe to show: the password, where there is one, replaced by `***`. */
export function redactUrl(url: string): string {
  return url.replace(/(:\/\/[^:/@]*):[^@/]*@/, '$1:***@')
}
