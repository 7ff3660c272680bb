import t from 'tap'
import {
  formatCount,
  formatDuration,
  formatMilliseconds,
  formatPercent,
  formatRate,
} from '#platform/pages/format.ts'

t.test('amounts are formatted short and exact enough', async (t) => {
  t.strictSame([formatCount(0), formatCount(12_345)], ['0', '12,345'])
  t.strictSame([formatRate(0, 0), formatRate(1, 3), formatRate(12_345, 10)], ['0', '0.333', '1,230'])
  t.strictSame(
    [formatPercent(0, 0), formatPercent(0, 5), formatPercent(1, 3), formatPercent(5, 5)],
    ['–', '0%', '33.3%', '100%'],
  )
  t.strictSame([undefined, 0.416, 12.4, 999, 1_000, 29_700].map(formatMilliseconds), [
    '–',
    '0.42 ms',
    '12 ms',
    '999 ms',
    '1 s',
    '30 s',
  ])
  t.strictSame([0, 59, 60, 3_599, 3_600, 11_100, 86_400, 93_600].map(formatDuration), [
    '0 s',
    '59 s',
    '1 min',
    '59 min',
    '1 h',
    '3 h 5 min',
    '1 d',
    '1 d 2 h',
  ])
})
