import { CommanderError } from 'commander'
import { env } from '../core/env'
import { sentence, Unavailable, UnsafeError, UserError } from '../core/errors'

/**
 * A parser of a numeric option.
 * @throws UserError naming the option and what it takes.
 */
export function numberIn(option: string, min: number, max: number, kind: 'whole' | 'any' = 'whole') {
  return (text: string): number => {
    const value = Number(text)
    const fits =
      text.trim() !== '' && value >= min && value <= max && (kind === 'any' || Number.isInteger(value))
    if (!fits)
      throw new UserError(
        `${option} does not take "${text}"; write a ${kind === 'whole' ? 'whole ' : ''}number from ${min} to ${max}.`,
      )
    return value
  }
}

/**
 * Says what went wrong in one sentence on stderr and ends the process: 2 when the person can mend the command,
 * 1 when it could not be carried out.
 */
export function exitOn(error: unknown): never {
  // Of a command that needs another word, commander has shown the help.
  const helped = error instanceof CommanderError && error.code === 'commander.help'
  if (!helped) process.stderr.write(`${said(error)}\n`)
  process.exit(error instanceof UserError || error instanceof CommanderError ? 2 : 1)
}

function said(error: unknown): string {
  if (error instanceof CommanderError) {
    const fault = error.message.replace(/^error: /, '').replace(/\s+/g, ' ')
    return `${fault.charAt(0).toUpperCase()}${fault.slice(1)}; see: orbweaver ${process.argv[2] ?? ''} --help`
  }
  if (error instanceof UserError || error instanceof UnsafeError || error instanceof Unavailable)
    return error.message
  if ((error as NodeJS.ErrnoException)?.code === 'ENOSPC')
    return `The disk is full (${sentence(error)}); free some space and run the command again.`
  const stack = env().LOG_LEVEL === 'debug' && error instanceof Error ? `\n${error.stack}` : ''
  return `The command failed for a reason it does not know (${reason(error)}); run it again with LOG_LEVEL=debug and report what it prints.${stack}`
}

/** In one line. The database library's own message is the whole query; what went wrong with it is the cause. */
function reason(error: unknown): string {
  const cause = error instanceof Error && error.message.startsWith('Failed query') ? error.cause : error
  return sentence(cause).split('\n', 1)[0]!
}
