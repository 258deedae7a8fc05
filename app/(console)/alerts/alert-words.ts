'use client'

import { useTranslations } from 'next-intl'
import {
  type AlertFigures,
  sentenceKey,
  sentenceValues,
  shownFigure,
  subjectOf,
  unitKey,
} from '../../../core/alert-text'

/** Alerts in the words of their messages. Their keys come from the server, so the compiler can't check them. */
export function useAlertWords() {
  const t = useTranslations('alertText') as unknown as (
    key: string,
    values?: Record<string, string | number>,
  ) => string
  return {
    rule: (rule: string) => t(`rules.${rule}`),
    subject(subject: string) {
      const { key, name } = subjectOf(subject)
      return t(`subjects.${key}`, { name })
    },
    said: (alert: AlertFigures) => t(`said.${sentenceKey(alert)}`, sentenceValues(alert)),
    figure: (rule: string, value: number) => t(`units.${unitKey(rule)}`, { value: shownFigure(rule, value) }),
  }
}
