import { expect, test } from 'vitest'
import { checkCron, nextFires } from './cron'

/** The fires after an instant, as ISO 8601 in UTC without the milliseconds. */
const fires = (cron: string, zone: string, after: string, count: number) =>
  nextFires(cron, zone, new Date(after), count).map((fire) => fire.toISOString().replace(':00.000Z', 'Z'))

// Golden lists: changes of the clock in 2026 as tzdata has them, worked out by hand.
// Berlin   29 March 01:00Z 02:00 → 03:00, 25 October 01:00Z 03:00 → 02:00
// New York  8 March 07:00Z 02:00 → 03:00,  1 November 06:00Z 02:00 → 01:00
// Lord Howe 3 October 15:30Z 02:00 → 02:30, 4 April 15:00Z 02:00 → 01:30
// Santiago  6 September 04:00Z 00:00 → 01:00, 5 April 03:00Z 00:00 → 23:00

test('a time of day inside a gap fires once, at the first instant after it', () => {
  expect(fires('30 2 * * *', 'Europe/Berlin', '2026-03-27T12:00Z', 3)).toEqual([
    '2026-03-28T01:30Z',
    '2026-03-29T01:00Z',
    '2026-03-30T00:30Z',
  ])
  expect(fires('30 2 * * *', 'America/New_York', '2026-03-07T00:00Z', 3)).toEqual([
    '2026-03-07T07:30Z',
    '2026-03-08T07:00Z',
    '2026-03-09T06:30Z',
  ])
  expect(fires('15 2 * * *', 'Australia/Lord_Howe', '2026-10-02T00:00Z', 3)).toEqual([
    '2026-10-02T15:45Z',
    '2026-10-03T15:30Z',
    '2026-10-04T15:15Z',
  ])
  expect(fires('0 0 * * *', 'America/Santiago', '2026-09-05T00:00Z', 3)).toEqual([
    '2026-09-05T04:00Z',
    '2026-09-06T04:00Z',
    '2026-09-07T03:00Z',
  ])
})

test('several times of day inside one gap fire once together', () => {
  expect(fires('0,30 2 * * *', 'Europe/Berlin', '2026-03-28T02:00Z', 3)).toEqual([
    '2026-03-29T01:00Z',
    '2026-03-30T00:00Z',
    '2026-03-30T00:30Z',
  ])
  // 02:00 and 03:00 are the same instant on that day.
  expect(fires('0 2,3 * * *', 'Europe/Berlin', '2026-03-28T02:00Z', 3)).toEqual([
    '2026-03-29T01:00Z',
    '2026-03-30T00:00Z',
    '2026-03-30T01:00Z',
  ])
})

test('a time of day that comes twice fires the first time only', () => {
  expect(fires('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', 3)).toEqual([
    '2026-10-25T00:30Z',
    '2026-10-26T01:30Z',
    '2026-10-27T01:30Z',
  ])
  expect(fires('0,30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', 3)).toEqual([
    '2026-10-25T00:00Z',
    '2026-10-25T00:30Z',
    '2026-10-26T01:00Z',
  ])
  expect(fires('30 1 * * *', 'America/New_York', '2026-10-31T12:00Z', 2)).toEqual([
    '2026-11-01T05:30Z',
    '2026-11-02T06:30Z',
  ])
  expect(fires('45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T00:00Z', 2)).toEqual([
    '2026-04-04T14:45Z',
    '2026-04-05T15:15Z',
  ])
  expect(fires('30 23 * * *', 'America/Santiago', '2026-04-04T12:00Z', 2)).toEqual([
    '2026-04-05T02:30Z',
    '2026-04-06T03:30Z',
  ])
  expect(fires('0 0 * * *', 'America/Santiago', '2026-04-04T12:00Z', 2)).toEqual([
    '2026-04-05T04:00Z',
    '2026-04-06T04:00Z',
  ])
})

test('intervals go on through gap and fold at their real length', () => {
  const halfHours = (zone: string, around: string) => {
    const list = nextFires('*/30 * * * *', zone, new Date(Date.parse(around) - 3 * 3_600_000), 12)
    return new Set(list.slice(1).map((fire, n) => (fire.getTime() - list[n]!.getTime()) / 60_000))
  }
  for (const [zone, gap, fold] of [
    ['Europe/Berlin', '2026-03-29T01:00Z', '2026-10-25T01:00Z'],
    ['America/New_York', '2026-03-08T07:00Z', '2026-11-01T06:00Z'],
    ['Australia/Lord_Howe', '2026-10-03T15:30Z', '2026-04-04T15:00Z'],
    ['America/Santiago', '2026-09-06T04:00Z', '2026-04-05T03:00Z'],
  ] as const) {
    expect(halfHours(zone, gap)).toEqual(new Set([30]))
    expect(halfHours(zone, fold)).toEqual(new Set([30]))
  }
})

test('two years of a daily schedule have each day once, whatever the clock does', () => {
  for (const zone of ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Santiago'])
    for (const cron of ['30 2 * * *', '0 0 * * *']) {
      const list = nextFires(cron, zone, new Date('2026-01-01T00:00Z'), 730)
      const days = list.map((fire) => fire.toLocaleDateString('en-CA', { timeZone: zone }))
      expect(new Set(days).size).toBe(730)
    }
})

test('going on from any instant, inside a fold or gap too, continues the same list', () => {
  const crons = ['0,30 1,2,3 * * *', '*/20 * * * *']
  for (const zone of ['Europe/Berlin', 'Australia/Lord_Howe', 'America/Santiago'])
    for (const cron of crons)
      for (const begin of [
        '2026-03-28T12:00Z',
        '2026-04-04T00:00Z',
        '2026-09-05T12:00Z',
        '2026-10-24T12:00Z',
      ]) {
        const whole = nextFires(cron, zone, new Date(begin), 40)
        for (let n = 0; n < 30; n++) {
          const between = new Date((whole[n]!.getTime() + whole[n + 1]!.getTime()) / 2)
          expect(nextFires(cron, zone, whole[n]!, 3)).toEqual(whole.slice(n + 1, n + 4))
          expect(nextFires(cron, zone, between, 3)).toEqual(whole.slice(n + 1, n + 4))
        }
      }
})

test('seconds, names and nicknames are understood; what is never due gives nothing', () => {
  expect(nextFires('*/20 * * * * *', 'UTC', new Date('2026-01-01T00:00:05Z'), 2).map(Number)).toEqual([
    Date.parse('2026-01-01T00:00:20Z'),
    Date.parse('2026-01-01T00:00:40Z'),
  ])
  expect(fires('0 9 * * MON', 'Asia/Shanghai', '2026-12-02T00:00Z', 1)).toEqual(['2026-12-07T01:00Z'])
  expect(fires('@hourly', 'Asia/Kolkata', '2026-12-02T00:00Z', 1)).toEqual(['2026-12-02T00:30Z'])
  expect(fires('0 0 29 2 *', 'UTC', '2026-01-01T00:00Z', 1)).toEqual(['2028-02-29T00:00Z'])
  expect(fires('0 0 30 2 *', 'Europe/Berlin', '2026-01-01T00:00Z', 1)).toEqual([])
})

test('a wrong expression or zone is refused with its fault and a remedy', () => {
  expect(() => checkCron('61 * * * *', 'UTC')).toThrow(
    /"61 \* \* \* \*" is not usable \(.*minute.*\); write five fields/,
  )
  expect(() => checkCron('* * * *', 'UTC')).toThrow(/five/)
  expect(() => checkCron('0 0 0 1 1 * 2030', 'UTC')).toThrow(/not usable/)
  expect(() => checkCron('0 0 * * *', 'Berlin')).toThrow(/"Berlin" is not an IANA time zone; write one/)
})
