import t from 'tap'
import { parseTime } from '#platform/time.ts'

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
