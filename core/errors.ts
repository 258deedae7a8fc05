/**
 * The classes of error, one for each way of handling it. Whoever catches decides by class alone:
 *
 * | class            | whose fault      | what the top level does                                       |
 * |------------------|------------------|---------------------------------------------------------------|
 * | `UserError`      | the person's     | print the sentence, no stack, exit 2 (CLI) or 400 (API)       |
 * | `UnsafeError`    | the installation | print the sentence, refuse to start, exit 1                   |
 * | `Unavailable`    | a server's       | wait and try again; the work it was for is not lost           |
 * | anything else    | ours             | log with its stack, exit 1 (process) or 500 (API)             |
 *
 * A message is one sentence that names the thing, says what is wrong with it, and ends with the remedy.
 */
export class UserError extends Error {
  override name = 'UserError'

  /** @param fault lets the console say the sentence in its reader's language; for what its own forms commonly provoke. */
  constructor(
    message: string,
    readonly fault?: Fault,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** Faults that the console has words of its own for: `fault` in messages/, with the same values. */
export const FAULTS = [
  'url_malformed',
  'url_scheme',
  'url_credentials',
  'url_long',
  'no_seed',
  'spider_unknown',
  'spider_there',
  'spider_changed',
  'queue_unknown',
  'queue_name',
  'queue_no_run',
  'run_elsewhere',
  'scale_bounds',
  'scale_rate',
  'host_malformed',
  'origin_malformed',
  'proxy_malformed',
  'cron_malformed',
  'cron_never',
  'zone_unknown',
  'schedule_unknown',
  'schedule_empty',
  'run_unknown',
  'import_busy',
  'upload_broken',
  'address_taken',
  'password_there',
  'last_admin',
  'person_unknown',
  'key_unknown',
  'tryout_busy',
  'tryout_no_worker',
  'tryout_unknown',
] as const

export interface Fault {
  code: (typeof FAULTS)[number]
  values?: Record<string, string | number>
}

export class UnsafeError extends Error {
  override name = 'UnsafeError'
}

export class Unavailable extends Error {
  override name = 'Unavailable'
}

/** The sentence to show a person for any thrown value; never a stack. */
export function sentence(thrown: unknown): string {
  if (thrown instanceof AggregateError && !thrown.message && thrown.errors.length > 0)
    return sentence(thrown.errors[0])
  if (thrown instanceof Error) return thrown.message || thrown.name
  return String(thrown)
}
