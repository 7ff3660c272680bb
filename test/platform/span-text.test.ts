import t from 'tap'
import { spanText } from '#platform/span-text.ts'

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
  t.strictSame(texts.map(spanText), [
    ...['1 second', '90 seconds', '1 minute', '15 minutes', '1 hour', '90 minutes', '24 hours'],
    ...['2 days', '30 days', '1441 minutes', '1 second'],
  ])
})
