import t from 'tap'
import { durationHint, secretHint, sizeHint } from '../../src/config/value-hints.ts'

const durations: readonly (readonly [value: unknown, hint: string])[] = [
  [30, ': add the unit, such as 30s or 30ms'],
  ['30', ': add the unit, such as 30s or 30ms'],
  ['5 minutes', ', did you mean 5m?'],
  ['5 seconds', ', did you mean 5s?'],
  ['10 ms', ', did you mean 10ms?'],
  ['2H', ', did you mean 2h?'],
  ['3 days', ', did you mean 3d?'],
  ['1h30m', ': one number and one unit, such as 90m'],
  ['1m500ms', ': one number and one unit, such as 60500ms'],
  ['24h60m', ': one number and one unit, such as 25h'],
  ['soon', ''],
  ['5 fortnights', ''],
  [true, ''],
  [null, ''],
]

t.test('a malformed duration is reported with how to write it', async (t) => {
  for (const [value, hint] of durations) {
    t.equal(durationHint(value), hint, String(value))
  }
})

const sizes: readonly (readonly [value: unknown, hint: string])[] = [
  [10, ': add the unit, such as 10KiB or 10MiB'],
  ['10', ': add the unit, such as 10KiB or 10MiB'],
  ['10MB', ', did you mean 10MiB?'],
  ['16 KiB', ', did you mean 16KiB?'],
  ['16k', ', did you mean 16KiB?'],
  ['2 GB', ', did you mean 2GiB?'],
  ['100 bytes', ', did you mean 100B?'],
  ['large', ''],
  [{}, ''],
]

t.test('a malformed size is reported with how to write it', async (t) => {
  for (const [value, hint] of sizes) t.equal(sizeHint(value), hint, String(value))
})

t.test('a value out of range is not suggested as a correction', async (t) => {
  t.equal(durationHint('31d'), '')
  t.equal(sizeHint('2GiB'), '')
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
