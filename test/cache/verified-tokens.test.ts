import t from 'tap'
import { createVerifiedTokens } from '../../src/cache/verified-tokens.ts'
import { createBench, forge, newSigningKey, rightClaims, rightHeader, subject } from '../tokens/forge.ts'

t.test('a token that was verified is known until it is pushed out or all are dropped', async (t) => {
  const verified = createVerifiedTokens(2)
  const { issue, verify } = createBench([newSigningKey('key')], { verified })
  const tokens = [issue(subject), issue(subject), issue(subject)] as const
  for (const token of tokens) t.equal(verify(token).kind, 'valid')
  t.equal(verified.get(tokens[0]), undefined)
  t.match(verified.get(tokens[1]), subject)
  t.match(verified.get(tokens[2]), subject)
  verified.clear()
  t.equal(verified.get(tokens[2]), undefined)
  t.equal(verify(tokens[0]).kind, 'valid', 'and is verified again')
})

t.test('no token that is refused is remembered', async (t) => {
  const verified = createVerifiedTokens(10)
  const key = newSigningKey('key')
  const { verify } = createBench([key], { verified })
  const refused = [
    'x.y.z',
    forge(rightHeader(key), rightClaims, newSigningKey('key').material),
    forge(rightHeader(key), { ...rightClaims, iss: 'other' }, key.material),
    forge(rightHeader(key), { ...rightClaims, jti: undefined }, key.material),
    forge({ ...rightHeader(key), typ: 'JWT' }, rightClaims, key.material),
  ]
  for (const token of refused) {
    t.equal(verify(token).kind, 'invalid')
    t.equal(verified.get(token), undefined)
    t.equal(verify(token).kind, 'invalid')
  }
})

t.test('a remembered token is no longer looked at for its signature', async (t) => {
  const verified = createVerifiedTokens(10)
  const { issue, verify, keyring } = createBench([newSigningKey('key')], { verified })
  const token = issue(subject)
  verify(token)
  keyring.replace([newSigningKey('other')])
  t.equal(verify(token).kind, 'valid')
  // That is why whoever replaces the keys clears it.
  verified.clear()
  t.equal(verify(token).kind, 'invalid')
})
