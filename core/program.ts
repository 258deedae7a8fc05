import { sentence, Unavailable, UnsafeError, UserError } from './errors'
import { type Log, openLog } from './log'

export interface Program {
  /** What must already be stoppable while it starts. */
  start?(): Promise<void>
  /** Ends what is under way, and closes what was opened. */
  stop(): Promise<void>
  /** Longest time that `stop` may take, in milliseconds, for whatever hangs in it. */
  farewellMs: number
}

/**
 * Runs a process until SIGTERM or SIGINT. Exit codes: 0 stopped by one of these, 1 could not start or failed, 2 wrong
 * configuration.
 */
export async function runProgram(name: string, open: (log: Log) => Promise<Program>): Promise<void> {
  try {
    const log = openLog(name)
    const program = await open(log)
    const end = async (signal: string) => {
      log.info({ signal }, 'Signal received')
      setTimeout(() => process.exit(1), program.farewellMs).unref()
      await program.stop()
      log.flush(() => process.exit(0))
    }
    process.once('SIGTERM', () => void end('SIGTERM'))
    process.once('SIGINT', () => void end('SIGINT'))
    await program.start?.()
  } catch (error) {
    exitWith(error)
  }
}

/** Ends the process: with a sentence where the person or a server is at fault, with the stack where we are. */
export function exitWith(error: unknown): never {
  const expected = error instanceof UserError || error instanceof UnsafeError || error instanceof Unavailable
  process.stderr.write(`${expected ? sentence(error) : (error as Error).stack}\n`)
  process.exit(error instanceof UserError ? 2 : 1)
}
