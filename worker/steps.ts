import { channel } from 'node:diagnostics_channel'

/** The steps of a URL's life at which a worker may die; docs/architecture.md says for each what is left and who repairs it. */
export type Step = 'claimed' | 'begun' | 'fetched' | 'stored' | 'links ahead' | 'acknowledged'

const steps = channel('orbweaver:worker')

/** Tells whoever listens (a tracer, a test that kills the process right here) that a step is done. Costs nothing when nobody does. */
export function passed(step: Step): void {
  if (steps.hasSubscribers) steps.publish(step)
}
