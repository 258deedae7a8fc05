/**
 * Preloaded into a worker (`node --import`): kills the process with SIGKILL right after the n-th passing of a step.
 * ORBWEAVER_CRASH_AT is `step:n`, for instance `stored:3`.
 */
import { subscribe } from 'node:diagnostics_channel'

const [step, count] = (process.env.ORBWEAVER_CRASH_AT ?? '').split(':')
let left = Number(count)
subscribe('orbweaver:worker', (passed) => {
  if (passed === step && --left === 0) process.kill(process.pid, 'SIGKILL')
})
