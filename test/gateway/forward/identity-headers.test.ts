import t from 'tap'
import { createIdentityWriter, encodeHeaderValue } from '#gateway/forward/identity-headers.ts'
import type { Principal } from '#identity/decision.ts'
import { principal } from './heads.ts'

const all = {
  id: 'X-User-Id',
  role: 'X-User-Role',
  email: 'X-User-Email',
  verified: 'X-User-Verified',
  name: 'X-User-Name',
  session: 'X-User-Session',
  scheme: 'X-User-Scheme',
  key: 'X-User-Key',
  scopes: 'X-User-Scopes',
  plan: 'X-User-Plan',
}

t.test('each configured header has its field of the principal', async (t) => {
  t.strictSame(createIdentityWriter(all)(principal).split('\r\n'), [
    'X-User-Id: acc_1',
    'X-User-Role: Admin',
    'X-User-Email: ada@example.com',
    'X-User-Verified: true',
    'X-User-Name: Ada%20Lovelace',
    'X-User-Session: ses_1',
    'X-User-Scheme: bearer',
    'X-User-Key: default',
    '',
  ])
  const limited: Principal = { ...principal, key: 'ci', scopes: ['orders:read', 'a%b', 'c'], plan: 'free' }
  t.strictSame(createIdentityWriter(all)(limited).split('\r\n').slice(-4), [
    'X-User-Key: ci',
    'X-User-Scopes: orders:read%20a%25b%20c',
    'X-User-Plan: free',
    '',
  ])
})

t.test('only what is configured is written, under the name that is configured', async (t) => {
  t.equal(
    createIdentityWriter({ id: 'Remote-User', role: 'R' })(principal),
    'Remote-User: acc_1\r\nR: Admin\r\n',
  )
})

t.test('a secret key has no session, and none is written', async (t) => {
  const profile = { email: 'a@b.example', firstName: 'Ada', lastName: '', isVerified: false }
  const byKey: Principal = { ...principal, scheme: 'secretKey', sessionId: undefined, profile }
  const lines = createIdentityWriter(all)(byKey)
  t.notMatch(lines, /Session/)
  t.match(lines, 'X-User-Scheme: secretKey\r\n')
  t.match(lines, 'X-User-Verified: false\r\n')
})

t.test('a principal of a foreign issuer has no name, and says which issuer it is of', async (t) => {
  const profile = { email: undefined, firstName: 'Ada', lastName: '', isVerified: false }
  const foreign: Principal = {
    ...principal,
    accountId: 'corp:ada',
    sessionId: undefined,
    issuer: 'corp',
    profile,
  }
  t.strictSame(createIdentityWriter({ ...all, issuer: 'X-User-Issuer' })(foreign).split('\r\n'), [
    'X-User-Id: corp:ada',
    'X-User-Role: Admin',
    'X-User-Verified: false',
    'X-User-Scheme: bearer',
    'X-User-Key: default',
    'X-User-Issuer: corp',
    '',
  ])
})

t.test('an identity field unknown during an outage fails the request', async (t) => {
  const { profile: _unknown, ...rest } = principal
  const known: Principal = { ...rest, profile: undefined }
  for (const headers of [{ email: 'E' }, { verified: 'V' }, { name: 'N' }, { key: 'K' }, { plan: 'P' }])
    t.throws(() => createIdentityWriter({ id: 'I', role: 'R', ...headers })(known), {
      code: 'store-unavailable',
    })
  t.equal(createIdentityWriter({ id: 'I', role: 'R' })(known), 'I: acc_1\r\nR: Admin\r\n')
  const limited = { ...known, scopes: ['a'] }
  t.match(
    createIdentityWriter({ id: 'I', role: 'R', scopes: 'S' })(limited),
    'S: a\r\n',
    'the token has them',
  )
})

const values: readonly (readonly [value: string, written: string])[] = [
  ['', ''],
  ['Admin', 'Admin'],
  ['!"#$&\'()*+,-./:;<=>?@[\\]^_`{|}~', '!"#$&\'()*+,-./:;<=>?@[\\]^_`{|}~'],
  ['%', '%25'],
  ['%61da@example.com', '%2561da@example.com'],
  ['zo\u00eb@example.com', 'zo%C3%AB@example.com'],
  ['100% of Zo\u00eb', '100%25%20of%20Zo%C3%AB'],
  ['two words', 'two%20words'],
  [' ', '%20'],
  ['\t', '%09'],
  ['J\u00fcrgen', 'J%C3%BCrgen'],
  ['\u5f20\u4f1f', '%E5%BC%A0%E4%BC%9F'],
  ['\u{1f600}', '%F0%9F%98%80'],
  ['a\r\nX-User-Role: Admin', 'a%0D%0AX-User-Role:%20Admin'],
  ['a\nb', 'a%0Ab'],
  ['a\rb', 'a%0Db'],
  ['a\0b', 'a%00b'],
  ['\u007f', '%7F'],
  ['\u0085\u2028\u00a0', '%C2%85%E2%80%A8%C2%A0'],
  ['\ud800', '%EF%BF%BD'],
  ['a\udc00b', 'a%EF%BF%BDb'],
  // What would become CR and LF if it were cut down to a byte.
  ['\u010d\u010a', '%C4%8D%C4%8A'],
]

t.test('a value is visible ASCII as it is, anything else and the percent sign percent-encoded', async (t) => {
  for (const [index, [value, written]] of values.entries()) {
    t.equal(encodeHeaderValue(value), written, `value ${index}`)
  }
})

t.test('a backend that decodes a value gets what was stored, so that no two values meet there', async (t) => {
  const names = [
    '%61da@example.com',
    'ada@example.com',
    'Zo\u00eb',
    'Zo%C3%AB',
    'Zo%25C3%25AB',
    '%',
    '%25',
    '%2525',
  ]
  for (const name of names) t.equal(decodeURIComponent(encodeHeaderValue(name)), name)
  t.equal(new Set(names.map(encodeHeaderValue)).size, names.length)
})

t.test('no character whatever can end its line', async (t) => {
  for (let code = 0; code < 0x10000; code++) {
    const line = encodeHeaderValue(`a${String.fromCharCode(code)}b`)
    if (!/^[!-~]+$/.test(line)) t.fail(`U+${code.toString(16)} gives ${JSON.stringify(line)}`)
  }
  const role = 'User\r\nX-User-Id: acc_2'
  const lines = createIdentityWriter({ id: 'X-User-Id', role: 'X-User-Role' })({ ...principal, role }).split(
    '\r\n',
  )
  t.strictSame(lines, ['X-User-Id: acc_1', 'X-User-Role: User%0D%0AX-User-Id:%20acc_2', ''])
})
