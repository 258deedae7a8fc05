/**
 * How an alert is put in words: `alertText` in messages/ has the sentences, for the console and for the messages of channels
 * alike. Here is which of them, and with which values.
 */
export interface AlertFigures {
  rule: string
  subject: string
  figure: number
  threshold: number
  windowMinutes: number
  facts: Record<string, string | number>
}

/** Rules whose figure is a share; it is shown as the overview shows it: rounded down to a tenth of a per cent. */
const SHARES = ['success_rate', 'redis_memory']
/** Rules whose figure is a time in minutes. */
const TIMES = ['backlog_age', 'silent_worker', 'sink_age']

/** `alertText.said.KEY`: of a queue that no worker serves another sentence is said than of a worker that is silent. */
export const sentenceKey = ({ rule, subject }: Pick<AlertFigures, 'rule' | 'subject'>) =>
  rule === 'silent_worker' && subject.startsWith('queue:') ? 'silent_queue' : rule

/** `alertText.units.KEY`: how a figure of the rule is written. */
export const unitKey = (rule: string) =>
  SHARES.includes(rule) ? 'share' : TIMES.includes(rule) ? 'minutes' : 'count'

export const shownFigure = (rule: string, figure: number) =>
  SHARES.includes(rule) ? Math.floor(figure * 1000) / 1000 : figure

/** The values of all sentences. What is empty is a dash. */
export const sentenceValues = ({ rule, figure, threshold, windowMinutes, facts }: AlertFigures) => ({
  ...Object.fromEntries(Object.entries(facts).map(([key, value]) => [key, value === '' ? '–' : value])),
  figure: shownFigure(rule, figure),
  threshold,
  window: windowMinutes,
})

/** `alertText.subjects.KEY`, and the name in it. */
export function subjectOf(subject: string): { key: string; name: string } {
  const colon = subject.indexOf(':')
  return colon < 0
    ? { key: subject, name: '' }
    : { key: subject.slice(0, colon), name: subject.slice(colon + 1) }
}

/** Where in the console the matter can be looked into. */
export function subjectPath(subject: string): string {
  const { key, name } = subjectOf(subject)
  const path = encodeURIComponent(name)
  if (key === 'queue') return `/queues/${path}`
  if (key === 'run') return `/runs/${path}`
  if (key === 'schedule') return `/schedules/${path}`
  if (key === 'worker') return '/workers'
  return key === 'redis' ? '/queues' : '/'
}
