'use client'

import { useFormatter, useLocale, useTimeZone, useTranslations } from 'next-intl'

/** Numbers with their units and times with their zone, alike on every page. */
export function useFigures() {
  const format = useFormatter()
  const locale = useLocale()
  const zone = useTimeZone() ?? 'UTC'
  const t = useTranslations('figures')
  const clock = (ms: number) =>
    format.dateTime(ms, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })
  // By itself, because some languages put it in the middle of a time.
  const zoneName = (ms: number) =>
    new Intl.DateTimeFormat(locale, { timeZone: zone, timeZoneName: 'short' })
      .formatToParts(ms)
      .find((part) => part.type === 'timeZoneName')?.value ?? zone
  return {
    count: (value: number) => format.number(value),
    /** `null` (not known) is a dash. */
    rate: (value: number | null) =>
      value === null
        ? '–'
        : format.number(value, { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 }),
    percent: (value: number | null) =>
      value === null
        ? '–'
        : format.number(Math.floor(value * 1000) / 1000, { style: 'percent', maximumFractionDigits: 1 }),
    bytes: (value: number | null) => {
      if (value === null) return '–'
      const [unit, size] = value < 1000 ? ['byte', 1] : value < 1e6 ? ['kilobyte', 1e3] : ['megabyte', 1e6]
      const digits =
        value < 1000
          ? // The short word for bytes has no plural in English.
            { maximumFractionDigits: 0, unitDisplay: 'long' as const }
          : { maximumFractionDigits: 1 }
      return new Intl.NumberFormat(locale, { style: 'unit', unit: String(unit), ...digits }).format(
        value / Number(size),
      )
    },
    milliseconds: (value: number | null) =>
      value === null ? '–' : t('milliseconds', { value: format.number(value) }),
    /** A setting in milliseconds, as exact as it is. */
    delay: (ms: number) =>
      ms > 0 && ms < 1000
        ? t('milliseconds', { value: format.number(ms) })
        : t('seconds', { seconds: format.number(ms / 1000, { maximumFractionDigits: 3 }) }),
    duration: (ms: number) => {
      const seconds = Math.max(0, Math.round(ms / 1000))
      if (seconds < 60) return t('seconds', { seconds })
      if (seconds < 3600) return t('minutes', { minutes: Math.floor(seconds / 60), seconds: seconds % 60 })
      if (seconds < 86_400)
        return t('hours', { hours: Math.floor(seconds / 3600), minutes: Math.floor((seconds % 3600) / 60) })
      return t('days', { days: Math.floor(seconds / 86_400), hours: Math.floor((seconds % 86_400) / 3600) })
    },
    /** Date, time to the second, and the zone's short name; the year where it is not this one. */
    moment: (ms: number) => {
      const sameYear =
        format.dateTime(ms, { year: 'numeric' }) === format.dateTime(Date.now(), { year: 'numeric' })
      const date = format.dateTime(ms, {
        ...(!sameYear && { year: 'numeric' }),
        month: 'short',
        day: 'numeric',
      })
      return `${date} ${clock(ms)} ${zoneName(ms)}`
    },
    /** Weekday, date and time in a zone of its own, named; with seconds only where there are any. */
    inZone: (ms: number, timeZone: string) =>
      new Intl.DateTimeFormat(locale, {
        timeZone,
        weekday: 'short',
        year: 'numeric',
        month: 'short',
        day: 'numeric',
        hour: '2-digit',
        minute: '2-digit',
        ...(ms % 60_000 !== 0 && { second: '2-digit' as const }),
        hourCycle: 'h23',
        timeZoneName: 'short',
      }).format(ms),
    /** Time of day to the second. */
    clock,
    /** For the axis of a chart: the time, or the day where a range is longer than two days. */
    tick: (ms: number, rangeMs: number) =>
      rangeMs > 172_800_000
        ? format.dateTime(ms, { month: '2-digit', day: '2-digit' })
        : format.dateTime(ms, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  }
}
