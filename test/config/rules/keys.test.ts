import t from 'tap'
import { load, minimalConfig, problemMessages } from '../config-fixtures.ts'

const key = Buffer.alloc(32, 0xfb)
const fromFile = { ...minimalConfig, keys: { sealingKey: { file: 'sealing.key' } } }
const redis = { driver: 'redis', redis: { url: 'redis://127.0.0.1' } }
const refusal =
  'keys.sealingKey: is not a sealing key: it must be 32 bytes in base64 or hexadecimal; create one with: openssl rand -base64 32'

t.test('a sealing key must be 32 bytes, in base64 or hexadecimal', async (t) => {
  const forms = [
    key.toString('base64'),
    key.toString('base64url'),
    key.toString('hex'),
    key.toString('hex').toUpperCase(),
  ]
  for (const text of [...forms, `${forms[0]}\n`, `${forms[2]}\r\n`]) {
    t.strictSame(problemMessages(t, fromFile, { files: { 'config/sealing.key': text } }), [], text)
  }
})

t.test('a bad sealing key is refused with the way to make one, and never repeated', async (t) => {
  const texts = [
    key.subarray(1).toString('base64'),
    Buffer.concat([key, key]).toString('base64'),
    key.subarray(1).toString('hex'),
    'correct horse battery staple',
    `${key.toString('base64')}\n${key.toString('base64')}`,
  ]
  for (const text of texts) {
    t.strictSame(problemMessages(t, fromFile, { files: { 'config/sealing.key': text } }), [refusal], text)
    const byName = { ...minimalConfig, keys: { sealingKey: { env: 'SEALING_KEY' } } }
    t.strictSame(problemMessages(t, byName, { env: { SEALING_KEY: text } }), [refusal], text)
  }
})

t.test("with SQLite the sealing key's file may be missing: the start makes it", async (t) => {
  t.strictSame(problemMessages(t, fromFile), [])
  t.match(load(t, fromFile).keys.sealingKey, { kind: 'file', file: /^\/.*\/config\/sealing\.key$/ })
})

t.test('an empty sealing key file is reported differently from a missing one', async (t) => {
  t.strictSame(problemMessages(t, fromFile, { files: { 'config/sealing.key': '' } }), [
    'keys.sealingKey: config/sealing.key is empty',
  ])
})

t.test('a sealing key variable that is not set is a problem on every store', async (t) => {
  const byName = { ...minimalConfig, keys: { sealingKey: { env: 'SEALING_KEY' } } }
  const complaint = 'keys.sealingKey: the environment variable SEALING_KEY is not set'
  t.strictSame(problemMessages(t, byName), [complaint])
  t.strictSame(problemMessages(t, { ...byName, store: redis }), [complaint])
})

t.test('with Redis the sealing key must exist, and the problem says how to make it', async (t) => {
  const [complaint, ...others] = problemMessages(t, { ...fromFile, store: redis })
  t.match(complaint, /^keys\.sealingKey: cannot read config\/sealing\.key: no such file or directory/)
  t.match(complaint, /openssl rand -base64 32/)
  t.strictSame(others, [])
})
