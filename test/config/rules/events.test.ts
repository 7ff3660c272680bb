import t, { type Test } from 'tap'
import { load, minimalConfig, type Options, problemMessages } from '../config-fixtures.ts'

const bytes = (length: number) => Buffer.alloc(length, 7).toString('base64')
const files = {
  'config/hook': `whsec_${bytes(32)}`,
  'config/least': `whsec_${bytes(24)}`,
  'config/most': `whsec_${bytes(64)}`,
  'config/short': `whsec_${bytes(23)}`,
  'config/long': `whsec_${bytes(65)}`,
  'config/bad': 'whsec_!',
  'config/plain': 'x'.repeat(24),
  'config/plain-short': 'x'.repeat(23),
}
const receiver = { url: 'https://hooks.example.com/x?y', secret: { file: 'hook' }, types: ['key.*'] }

const problems = (t: Test, ...changes: readonly Options[]) =>
  problemMessages(t, { ...minimalConfig, events: changes.map((one) => ({ ...receiver, ...one })) }, { files })

t.test('a receiver has a URL, a secret and types', async (t) => {
  const { events } = load(t, { ...minimalConfig, events: [receiver] }, { files })
  t.strictSame(events, [
    { url: receiver.url, secret: files['config/hook'], types: ['key.*'], allowLocal: false },
  ])
  for (const file of ['least', 'most', 'plain']) t.strictSame(problems(t, { secret: { file } }), [], file)
  for (const types of [['*'], ['audit.signed-in', 'sign-in.locked'], ['audit.*'], ['account.d*']])
    t.strictSame(problems(t, { types }), [], String(types))
  for (const url of ['http://localhost:8080', 'http://127.0.0.1/x', 'https://[::1]/'])
    t.strictSame(problems(t, { url }), [], url)
})

t.test('a URL that cannot be posted to is a problem', async (t) => {
  for (const url of ['hooks.example.com', 'ftp://hooks.example.com', 'https://'])
    t.match(problems(t, { url }), [/must be a URL such as/], url)
  t.match(problems(t, { url: 'https://a:b@hooks.example.com' }), [/must not contain credentials/])
  t.match(problems(t, { url: 'https://hooks.example.com/#x' }), [/must have no fragment/])
  t.match(problems(t, {}, {}), [/is the URL of another receiver too/])
})

t.test('a secret that is too short, too long or no base64 is a problem', async (t) => {
  for (const [file, problem] of [
    ['short', /24 to 64 bytes, not 23/],
    ['long', /24 to 64 bytes, not 65/],
    ['plain-short', /24 to 64 bytes, not 23/],
    ['bad', /must be base64 after whsec_/],
    ['missing', /cannot read/],
  ] as const)
    t.match(problems(t, { secret: { file } }), [problem], file)
})

t.test('an unknown type is a problem, with the nearest one', async (t) => {
  t.match(problems(t, { types: ['key.revokd'] }), [
    /unknown type of event "key.revokd", did you mean "?key.revoked/,
  ])
  t.match(problems(t, { types: ['kex.*'] }), [/unknown type of event "kex.\*"/])
  t.match(problems(t, { types: [] }), [/./])
})
