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
