import t from 'tap'
import {
  dayOf,
  dayOfMonth,
  firstOfMonth,
  formatDay,
  parseDay,
  parseTime,
  spanText,
  startOfDay,
} from '#platform/time.ts'

t.test('a day begins at midnight UTC', async (t) => {
  const midnight = Date.UTC(2026, 10, 23)
  t.equal(formatDay(dayOf(midnight)), '2026-11-23')
  t.equal(formatDay(dayOf(midnight - 1)), '2026-11-22')
  t.equal(startOfDay(dayOf(midnight + 1)), midnight)
})

t.test('only a day that exists is read', async (t) => {
  for (const text of ['1970-01-01', '2024-02-29', '2026-12-31', '9999-12-31'])
    t.equal(formatDay(parseDay(text) ?? -1), text)
  for (const text of ['', '2026-02-29', '2026-02-30', '2026-04-31', '2026-13-01', '2026-00-10', '2026-1-1'])
    t.equal(parseDay(text), undefined, text)
  for (const text of [
    '1969-12-31',
    '26-11-23',
    '20261123',
    '2026-11-23T00:00',
    ' 2026-11-23',
    '+002026-11-23',
  ])
    t.equal(parseDay(text), undefined, text)
})

t.test('months begin on their first day, over the ends of years', async (t) => {
  const day = parseDay('2026-01-31') ?? 0
  t.equal(formatDay(firstOfMonth(day)), '2026-01-01')
  t.equal(formatDay(firstOfMonth(day, 1)), '2026-02-01')
  t.equal(formatDay(firstOfMonth(day, -1)), '2025-12-01')
  t.equal(formatDay(firstOfMonth(day, 12)), '2027-01-01')
  t.equal(dayOfMonth(day), 31)
})

t.test('a time of RFC 3339 is read, in either case and with any offset', async (t) => {
  const expected = Date.UTC(2030, 0, 31, 0, 0, 0)
  for (const text of [
    '2030-01-31T00:00:00Z',
    '2030-01-31t00:00:00z',
    '2030-01-31T00:00:00.0Z',
    '2030-01-31T00:00:00.000000000Z',
    '2030-01-31T01:00:00+01:00',
    '2030-01-30T18:30:00-05:30',
    '2030-01-31T23:59:00+23:59',
  ])
    t.equal(parseTime(text), expected, text)
  t.equal(parseTime('2028-02-29T23:59:59.999Z'), Date.UTC(2028, 1, 29, 23, 59, 59, 999))
})

t.test('what names no time is none', async (t) => {
  for (const text of [
    '',
    '2030-01-31',
    '2030-01-31T00:00:00',
    '2030-01-31 00:00:00Z',
    '2030-02-29T00:00:00Z',
    '2030-02-30T00:00:00Z',
    '2030-13-01T00:00:00Z',
    '2030-00-01T00:00:00Z',
    '2030-01-32T00:00:00Z',
    '2030-01-31T24:00:00Z',
    '2030-01-31T00:60:00Z',
    '2030-01-31T00:00:60Z',
    '2030-01-31T00:00:00.Z',
    '2030-01-31T00:00:00.0000000000Z',
    '2030-01-31T00:00:00+24:00',
    '2030-01-31T00:00:00+01:60',
    '2030-01-31T00:00:00+0100',
    '2030-01-31T00:00:00Z ',
    '+12030-01-31T00:00:00Z',
    'tomorrow',
  ])
    t.equal(parseTime(text), undefined, text)
})

t.test('a span is said in its largest whole unit, and a day in hours', async (t) => {
  const day = 86_400_000
  const texts = [
    1_000,
    90_000,
    60_000,
    900_000,
    3_600_000,
    5_400_000,
    day,
    2 * day,
    30 * day,
    day + 60_000,
    250,
  ]
  t.strictSame(
    texts.map((span) => spanText(span)),
    [
      ...['1 second', '90 seconds', '1 minute', '15 minutes', '1 hour', '90 minutes', '24 hours'],
      ...['2 days', '30 days', '1441 minutes', '1 second'],
    ],
  )
})
