import { expect, test } from 'vitest'
import { quietUntil } from './quiet-hours'

const at = (text: string) => Date.parse(text)
const until = (quiet: Parameters<typeof quietUntil>[0], now: string) => {
  const end = quietUntil(quiet, at(now))
  return end === null ? null : new Date(end).toISOString()
}

test('quiet hours are those of their own time zone, their end not among them', () => {
  const day = { from: '08:00', to: '20:30', zone: 'Asia/Shanghai' }
  expect(until(day, '2026-03-01T23:59:59.999Z')).toBeNull()
  expect(until(day, '2026-03-02T00:00:00Z')).toBe('2026-03-02T12:30:00.000Z')
  expect(until(day, '2026-03-02T12:29:59.999Z')).toBe('2026-03-02T12:30:00.000Z')
  expect(until(day, '2026-03-02T12:30:00Z')).toBeNull()
  expect(until(null, '2026-03-02T00:00:00Z')).toBeNull()
})

test('they may go past midnight', () => {
  const night = { from: '22:00', to: '06:00', zone: 'UTC' }
  expect(until(night, '2026-03-01T23:00:00Z')).toBe('2026-03-02T06:00:00.000Z')
  expect(until(night, '2026-03-02T05:59:00Z')).toBe('2026-03-02T06:00:00.000Z')
  expect(until(night, '2026-03-02T06:00:00Z')).toBeNull()
  expect(until(night, '2026-03-02T21:59:00Z')).toBeNull()
})

test('they end at their time of day also when the clock is changed in them', () => {
  const night = { from: '22:00', to: '06:00', zone: 'Europe/Berlin' }
  expect(until(night, '2026-03-28T22:00:00Z')).toBe('2026-03-29T04:00:00.000Z')
  expect(until(night, '2026-10-24T21:00:00Z')).toBe('2026-10-25T05:00:00.000Z')
})
