import t from 'tap'
import { parseDurationMs, parseSizeBytes } from '#config/units.ts'

t.test('a duration is a whole number and one of five units', async (t) => {
  const durations: readonly (readonly [text: string, ms: number])[] = [
    ['0ms', 0],
    ['0s', 0],
    ['250ms', 250],
    ['30s', 30_000],
    ['10m', 600_000],
    ['24h', 86_400_000],
    ['30d', 2_592_000_000],
    ['007s', 7_000],
    ['999999999999ms', 999_999_999_999],
  ]
  for (const [text, ms] of durations) t.equal(parseDurationMs(text), ms, text)
})

t.test('a size is a whole number and one of four units', async (t) => {
  const sizes: readonly (readonly [text: string, bytes: number])[] = [
    ['0B', 0],
    ['1B', 1],
    ['16KiB', 16_384],
    ['10MiB', 10_485_760],
    ['1GiB', 1_073_741_824],
    ['1024GiB', 1_099_511_627_776],
  ]
  for (const [text, bytes] of sizes) t.equal(parseSizeBytes(text), bytes, text)
})

const neither = [
  '',
  ' ',
  '0',
  '30',
  '-1s',
  '+1s',
  '1.5s',
  '1e3s',
  '1 s',
  ' 1s',
  '1s ',
  '1s\n',
  '1m30s',
  's',
  '٣s',
]

t.test('near misses of durations are refused', async (t) => {
  for (const text of [...neither, '1S', '1M', '1sec', '1w', '1y', '1us', '16KiB', '1000000000000ms']) {
    t.equal(parseDurationMs(text), undefined, JSON.stringify(text))
  }
})

t.test('near misses of sizes are refused', async (t) => {
  for (const text of [...neither, '1b', '1KB', '1kB', '1K', '1kib', '1TiB', '1M', '30s', '1000000000000B']) {
    t.equal(parseSizeBytes(text), undefined, JSON.stringify(text))
  }
})

t.test('a duration or size with very many digits is refused quickly', async (t) => {
  const start = performance.now()
  t.equal(parseDurationMs('1'.repeat(1_000_000)), undefined)
  t.ok(performance.now() - start < 2_000)
})
