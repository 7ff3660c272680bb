import t from 'tap'
import type { Bounds } from '#config/units.ts'
import { durationHint, secretHint, sizeHint } from '#config/value-hints.ts'

const wide = { min: '0s', max: '365d' }

const durations: readonly (readonly [value: unknown, hint: string, bounds?: Bounds])[] = [
  [30, ': add the unit, such as 30s or 30ms'],
  ['30', ': add the unit, such as 30s or 30ms'],
  [30, ': add the unit, such as 30s', { min: '1s', max: '10m' }],
  [10, ': add the unit, such as 10s or 10m', { min: '1s', max: '24h' }],
  [30_000, ': add the unit, such as 30000ms', { min: '1s', max: '10m' }],
  [7, ': add the unit, such as 7d', { min: '1d', max: '400d' }],
  [0, ': add the unit, such as 0s or 0ms'],
  [0, '', { min: '1s', max: '10m' }],
  [1.5, ''],
  ['5 minutes', ', did you mean 5m?'],
  ['5 minutes', '', { min: '1s', max: '1m' }],
  ['5 seconds', ', did you mean 5s?'],
  ['10 ms', ', did you mean 10ms?'],
  ['2H', ', did you mean 2h?'],
  ['3 days', ', did you mean 3d?'],
  ['1h30m', ': one number and one unit, such as 90m'],
  ['1m500ms', ': one number and one unit, such as 60500ms'],
  ['24h60m', ': one number and one unit, such as 25h'],
  ['24h60m', ': one number and one unit', { min: '1s', max: '24h' }],
  ['soon', ''],
  ['5 fortnights', ''],
  [true, ''],
  [null, ''],
]

t.test('a malformed duration is reported with how to write it within its bounds', async (t) => {
  for (const [value, hint, bounds = wide] of durations) {
    t.equal(durationHint(value, bounds), hint, `${value} from ${bounds.min} to ${bounds.max}`)
  }
})

const large = { min: '1B', max: '1024GiB' }

const sizes: readonly (readonly [value: unknown, hint: string, bounds?: Bounds])[] = [
  [10, ': add the unit, such as 10KiB or 10MiB'],
  ['10', ': add the unit, such as 10KiB or 10MiB'],
  [16_384, ': add the unit, such as 16384B', { min: '1KiB', max: '1MiB' }],
  ['16384', ': add the unit, such as 16384B'],
  [500, ': add the unit, such as 500B', { min: '1B', max: '100KiB' }],
  [16, ': add the unit, such as 16KiB', { min: '1KiB', max: '1MiB' }],
  [2_000_000, '', { min: '1KiB', max: '1MiB' }],
  ['10MB', ', did you mean 10MiB?'],
  ['10MB', '', { min: '1KiB', max: '1MiB' }],
  ['16 KiB', ', did you mean 16KiB?'],
  ['16k', ', did you mean 16KiB?'],
  ['2 GB', ', did you mean 2GiB?'],
  ['100 bytes', ', did you mean 100B?'],
  ['large', ''],
  [{}, ''],
]

t.test('a malformed size is reported with how to write it within its bounds', async (t) => {
  for (const [value, hint, bounds = large] of sizes) {
    t.equal(sizeHint(value, bounds), hint, `${value} from ${bounds.min} to ${bounds.max}`)
  }
})

t.test('a value out of range is not suggested as a correction', async (t) => {
  t.equal(durationHint('31d', { min: '1s', max: '30d' }), '')
  t.equal(sizeHint('2GiB', { min: '1B', max: '1GiB' }), '')
})

t.test(
  'a file name in place of a secret is suggested as a line, any other value is not repeated',
  async (t) => {
    for (const file of ['tls.crt', '/etc/ssl/private/tls.key', '../keys/a_b-c.pem'])
      t.equal(secretHint(file), `write { file: ${file} }`)
    const others = [
      'hunter2',
      'aGVsbG8/d29ybGQ=',
      '-----BEGIN PRIVATE KEY-----',
      `${'x'.repeat(101)}.pem`,
      7,
      null,
    ]
    for (const other of others) t.equal(secretHint(other), 'write { file: PATH } or { env: NAME }')
  },
)
