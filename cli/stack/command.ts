import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export interface CommandResult {
  /** Exit code; 127 when the program does not exist, 128 when a signal ended it. */
  code: number
  /** stdout and stderr, in the order they came. */
  output: string
}

const running = new Set<ChildProcess>()

/** Ends the programs that `run` waits for. */
export function endCommands(): void {
  for (const child of running) child.kill('SIGTERM')
}

/** Runs a program to its end and gives what it printed; never throws for its failure. */
export async function run(
  program: string,
  args: string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; input?: string } = {},
): Promise<CommandResult> {
  const child = spawn(program, args, { env: options.env, cwd: options.cwd, stdio: ['pipe', 'pipe', 'pipe'] })
  running.add(child)
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  // A program that ends without reading its input closes the pipe; its exit code tells the story.
  child.stdin.on('error', () => {})
  child.stdin.end(options.input ?? '')
  try {
    const [code] = await once(child, 'close')
    return { code: (code as number | null) ?? 128, output }
  } catch (error) {
    return { code: 127, output: String(error) }
  } finally {
    running.delete(child)
  }
}

/** The last `lines` lines of a text, for an error message. */
export function tail(text: string, lines = 8): string {
  return text.trimEnd().split('\n').slice(-lines).join('\n')
}
