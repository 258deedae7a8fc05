/** How far a crawl is. */
export interface Progress {
  done: number
  failed: number
  ignored: number
  /** Waiting, running or to be tried again. */
  open: number
  /** Since the run began. */
  seconds: number
}

const PLAIN_EVERY_SECONDS = 5
const BAR = 24

/**
 * Shows progress on stderr: one line that redraws itself on a terminal, a line every five seconds elsewhere.
 * `end` leaves the terminal's line clean for what follows.
 */
export function showProgress(stream: NodeJS.WriteStream = process.stderr) {
  let lastPlain = 0
  return {
    update(progress: Progress): void {
      if (stream.isTTY) {
        const line = `${bar(progress)} ${figures(progress)}`
        stream.write(`\r${line.slice(0, (stream.columns || 80) - 1)}\x1b[K`)
      } else if (progress.seconds - lastPlain >= PLAIN_EVERY_SECONDS) {
        lastPlain = progress.seconds
        stream.write(`${figures(progress)}\n`)
      }
    },
    end(): void {
      if (stream.isTTY) stream.write('\r\x1b[K')
    },
  }
}

/** The share of what is known by now; new links move it back, which is the truth of a crawl. */
function bar({ done, failed, ignored, open }: Progress): string {
  const ended = done + failed + ignored
  const filled = ended + open === 0 ? 0 : Math.floor((BAR * ended) / (ended + open))
  return `[${'█'.repeat(filled)}${'·'.repeat(BAR - filled)}]`
}

function figures({ done, failed, ignored, open, seconds }: Progress): string {
  const rate = seconds > 0 ? (done + failed + ignored) / seconds : 0
  return `${done} done, ${failed} failed, ${ignored} ignored, ${open} open · ${rate.toFixed(1)} pages/s · ${clock(seconds)}`
}

function clock(seconds: number): string {
  const whole = Math.floor(seconds)
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  return (parts[0] === 0 ? parts.slice(1) : parts).map((part) => String(part).padStart(2, '0')).join(':')
}
