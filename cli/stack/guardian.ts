import { type ChildProcess, spawn } from 'node:child_process'

/**
 * Ends processes when this one is gone, however it went (SIGKILL included): a shell waits on a pipe that the kernel
 * closes with us, then sends SIGTERM, and SIGKILL after ten seconds, to all processes that were started through it and
 * not forgotten. It costs a megabyte and no polling.
 *
 * `usersDir` names a folder of files whose names begin with process ids: while one of those other processes lives, nothing is ended.
 */
const SCRIPT = `
trap '' INT HUP
pids=' '
while read -r op pid; do
  rest=' '
  for p in $pids; do [ "$p" = "$pid" ] || rest="$rest$p "; done
  [ "$op" = + ] && rest="$rest$pid "
  pids=$rest
done
for user in "$2"/*; do
  user=\${user##*/}
  user=\${user%%.*}
  [ "$user" != "$1" ] && kill -0 "$user" 2>/dev/null && exit
done
for p in $pids; do kill -TERM "$p" 2>/dev/null; done
for i in 1 2 3 4 5 6 7 8 9 10; do
  alive=
  for p in $pids; do kill -0 "$p" 2>/dev/null && alive=1; done
  [ "$alive" ] || exit
  sleep 1
done
for p in $pids; do kill -KILL "$p" 2>/dev/null; done
`

/**
 * What a watched process is before it becomes its program: it says its own process id. Were that said by us, we could be
 * gone between the start and the word, and the process would stay behind; so its end of the pipe, too, keeps the
 * guardian waiting until it has spoken.
 */
const ANNOUNCED = 'echo "+ $$" >&3; exec 3>&-; exec "$@"'

export interface Watched {
  cwd?: string | undefined
  env: NodeJS.ProcessEnv
  /** File descriptor that takes its output and errors. */
  log: number
}

export interface Guardian {
  /**
   * Starts a program in a session of its own: Ctrl-C reaches only us, and we stop the processes in order. One that cannot
   * be run ends with exit code 126 or 127 and the reason in its log.
   */
  start(program: string, args: string[], options: Watched): ChildProcess
  forget(pid: number): void
  /** Lets it go; what it still watches is ended. */
  close(): void
}

export function startGuardian(usersDir = ''): Guardian {
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'orbweaver-guardian', String(process.pid), usersDir], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  shell.unref()
  shell.on('error', () => {})
  const pipe = shell.stdin
  pipe.on('error', () => {})
  ;(pipe as unknown as { unref?(): void }).unref?.()
  return {
    start: (program, args, { cwd, env, log }) =>
      spawn('/bin/sh', ['-c', ANNOUNCED, 'orbweaver-start', program, ...args], {
        cwd,
        env,
        stdio: ['ignore', log, log, pipe],
        detached: true,
      }),
    forget: (pid) => void pipe.write(`- ${pid}\n`),
    close: () => void pipe.end(),
  }
}
