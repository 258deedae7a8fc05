import { readSinkLengths } from '../../services/sinks'
import type { Rule } from '../rule'

/** Minutes for which the first of the pages has waited that a sink is to be given. Nothing is lost, but the outbox grows. */
export const sinkAge: Rule = {
  unit: 'minutes',
  wrong: 'reached',
  windowed: false,
  defaults: { threshold: 60, windowMinutes: 60, holdMinutes: 5 },
  async look(services) {
    const waiting = (await readSinkLengths(services)).filter((sink) => sink.waiting > 0)
    return waiting.map(({ sink, waiting, oldestSeconds, detail }) => ({
      subject: `sink:${sink}`,
      figure: Math.floor(oldestSeconds / 60),
      facts: { sink, waiting, last: detail ?? '' },
    }))
  },
}

/** Pages that a sink refuses, which wait until somebody gives them again. */
export const sinkRefused: Rule = {
  unit: 'count',
  wrong: 'reached',
  windowed: false,
  defaults: { threshold: 1, windowMinutes: 60, holdMinutes: 0 },
  async look(services) {
    const refused = (await readSinkLengths(services)).filter((sink) => sink.refused > 0)
    return refused.map(({ sink, refused, refusal }) => ({
      subject: `sink:${sink}`,
      figure: refused,
      facts: { sink, last: refusal ?? '' },
    }))
  },
}
