import t from 'tap'
import { amount, milliseconds, perSecond, share, span } from '../../src/pages/amounts.ts'

t.test('amounts are short and exact enough', async (t) => {
  t.strictSame([amount(0), amount(12_345)], ['0', '12,345'])
  t.strictSame([perSecond(0, 0), perSecond(1, 3), perSecond(12_345, 10)], ['0', '0.333', '1,230'])
  t.strictSame([share(0, 0), share(0, 5), share(1, 3), share(5, 5)], ['–', '0%', '33.3%', '100%'])
  t.strictSame([undefined, 0.416, 12.4, 999, 1_000, 29_700].map(milliseconds), [
    '–',
    '0.42 ms',
    '12 ms',
    '999 ms',
    '1 s',
    '30 s',
  ])
  t.strictSame([0, 59, 60, 3_599, 3_600, 11_100, 86_400, 93_600].map(span), [
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
