import t from 'tap'
import { dayOf, dayOfMonth, firstOfMonth, formatDay, parseDay, startOfDay } from '#platform/day.ts'

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
