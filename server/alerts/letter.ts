import { createTranslator } from 'use-intl/core'
import {
  sentenceKey,
  sentenceValues,
  shownFigure,
  subjectOf,
  subjectPath,
  unitKey,
} from '../../core/alert-text'
import { env } from '../../core/env'
import en from '../../messages/en.json'
import zh from '../../messages/zh-CN.json'
import { consoleUrl } from '../console-url'
import type { AlertMessage } from './announce'
import type { Letter } from './channel'

export type Language = 'en' | 'zh-CN'
const MESSAGES = { en: { alertText: en.alertText }, 'zh-CN': { alertText: zh.alertText } }
/** Keys are put together at run time, so they are not checked by the compiler; tests say every sentence in both languages. */
type Words = (key: string, values?: Record<string, string | number>) => string

/** Puts a message in words. Times are in the zone of the installation (TZ), which they name. */
export function writeLetter(
  { key, message }: { key: string; message: AlertMessage },
  channel: { name: string; language: Language },
  at: number,
): Letter {
  const { language } = channel
  const t = createTranslator({
    locale: language,
    messages: MESSAGES[language],
    namespace: 'alertText',
  }) as unknown as Words
  const base = { key, message, at, linkText: t('link') }
  if (message.event === 'test')
    return {
      ...base,
      title: t('testTitle'),
      text: t('test', { channel: channel.name }),
      link: `${consoleUrl()}/alerts`,
    }
  const { rule, subject, startedAt, endedAt } = message
  const about = subjectOf(subject)
  const names = { name: t(`rules.${rule}`), subject: t(`subjects.${about.key}`, { name: about.name }) }
  const figure = (value: number) => t(`units.${unitKey(rule)}`, { value: shownFigure(rule, value) })
  const text =
    message.event === 'resolved'
      ? t('over', {
          figure: figure(message.figure),
          threshold: figure(message.threshold),
          minutes: Math.max(1, Math.round(((endedAt ?? at) - startedAt) / 60_000)),
        })
      : `${t(`said.${sentenceKey(message)}`, sentenceValues(message))}\n${t('since', { time: moment(startedAt, language) })}`
  return { ...base, title: t(message.event, names), text, link: consoleUrl() + subjectPath(subject) }
}

const moment = (ms: number, language: Language) =>
  new Intl.DateTimeFormat(language, {
    timeZone: env().TZ,
    dateStyle: 'medium',
    timeStyle: 'long',
  }).format(ms)
