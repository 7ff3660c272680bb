import t from 'tap'
import {
  createBench,
  forge,
  type Json,
  newSigningKey,
  rightClaims,
  rightHeader,
  startS,
} from './forged-tokens.ts'

const key = newSigningKey('key')
const other = newSigningKey('other')
const header = rightHeader(key)
const signed = (claims: Json, head: Json = header) => forge(head, { ...rightClaims, ...claims }, key.material)
const right = signed({})

const reasons: readonly (readonly [reason: string, token: string])[] = [
  ['iat is 60 s in the future', signed({ iat: startS + 60 })],
  ['nbf is 90 s in the future', signed({ nbf: startS + 90 })],
  ['unknown kid', forge(rightHeader(other), rightClaims, other.material)],
  ['wrong iss', signed({ iss: 'https://other.example.com' })],
  [
    'wrong iss',
    forge({ ...header, kid: 'theirs', typ: 'JWT' }, { ...rightClaims, iss: 'https://x' }, other.material),
  ],
  ['wrong aud', signed({ aud: 'other' })],
  ['wrong typ', signed({}, { ...header, typ: 'JWT' })],
  ['wrong alg', signed({}, { ...header, alg: 'none' })],
  ['no kid, or crit', signed({}, { ...header, kid: undefined })],
  ['no kid, or crit', signed({}, { ...header, crit: ['b64'] })],
  ['a claim is missing or wrong', signed({ sub: undefined })],
  ['bad signature', forge(header, rightClaims, other.material)],
  ['malformed', 'no token'],
  ['malformed', `${right}=`],
  ['malformed', right.replace(/\.[^.]+\./, '.bm9uZQ.')],
]

for (const [reason, token] of reasons) {
  t.test(`the log names why a token is invalid: ${reason}`, async (t) => {
    const { verify } = createBench([key])
    for (const turn of ['at first', 'and where it is known to be refused']) {
      t.match(verify(token), { kind: 'invalid', reason }, turn)
    }
  })
}
