import { randomBytes } from 'node:crypto'
import t from 'tap'
import { isApiKeyOf, isSecretKeyOf } from '../../src/secrets/keys.ts'

const now = 1_700_000_000_000
const current = randomBytes(32)
const previous = randomBytes(32)
const other = randomBytes(32)

function accountWith(validUntil?: number) {
  return {
    secretKey: { digest: current },
    previousSecretKey: validUntil === undefined ? undefined : { digest: previous, validUntil },
    apiKey: { digest: other },
  }
}

t.test("only an account's own secret key matches", async (t) => {
  t.equal(isSecretKeyOf(accountWith(), current, now), true)
  t.equal(isSecretKeyOf(accountWith(), previous, now), false)
  t.equal(isSecretKeyOf(accountWith(), other, now), false, 'nor does the API key')
})

t.test('a replaced key matches until its grace ends, the new one always', async (t) => {
  for (const [validUntil, isMatch] of [
    [now + 1, true],
    [now, false],
    [now - 1, false],
    [0, false],
  ] as const) {
    t.equal(isSecretKeyOf(accountWith(validUntil), previous, now), isMatch)
    t.equal(isSecretKeyOf(accountWith(validUntil), current, now), true)
    t.equal(isSecretKeyOf(accountWith(validUntil), other, now), false)
  }
})

t.test("only an account's own API key matches", async (t) => {
  t.equal(isApiKeyOf(accountWith(), other), true)
  t.equal(isApiKeyOf(accountWith(now + 1), current), false)
  t.equal(isApiKeyOf(accountWith(now + 1), previous), false)
})

t.test('no key matches a missing account', async (t) => {
  for (const digest of [current, new Uint8Array(32)]) {
    t.equal(isSecretKeyOf(undefined, digest, now), false)
    t.equal(isApiKeyOf(undefined, digest), false)
  }
})

t.test('no digest matches a stored one of another length', async (t) => {
  for (const stored of [new Uint8Array(), current.subarray(0, 31), Buffer.concat([current, previous])]) {
    const account = { ...accountWith(), secretKey: { digest: stored }, apiKey: { digest: stored } }
    for (const digest of [current, new Uint8Array(32)]) {
      t.equal(isSecretKeyOf(account, digest, now), false)
      t.equal(isApiKeyOf(account, digest), false)
    }
  }
})

t.test('a digest of zeros matches neither an absent key nor an absent grace', async (t) => {
  t.equal(isSecretKeyOf(accountWith(), new Uint8Array(32), now), false)
})
