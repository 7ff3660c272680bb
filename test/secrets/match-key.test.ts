import { randomBytes } from 'node:crypto'
import t from 'tap'
import { findKey, isApiKeyOf } from '../../src/secrets/keys.ts'

const [one, two, other] = [randomBytes(32), randomBytes(32), randomBytes(32)]
const keys = [{ digest: one }, { digest: two }]

t.test('a digest finds the key that has it, whichever it is', async (t) => {
  t.equal(findKey(keys, one), keys[0])
  t.equal(findKey(keys, Buffer.from(two)), keys[1])
  t.equal(findKey(keys, other), undefined)
  t.equal(findKey([], one), undefined)
  t.equal(findKey([], new Uint8Array(32)), undefined)
})

t.test("only an account's own API key matches", async (t) => {
  t.equal(isApiKeyOf({ apiKey: { digest: other } }, other), true)
  t.equal(isApiKeyOf({ apiKey: { digest: other } }, one), false)
  t.equal(isApiKeyOf(undefined, one), false)
  t.equal(isApiKeyOf(undefined, new Uint8Array(32)), false)
})

t.test('no digest matches a stored one of another length', async (t) => {
  for (const digest of [new Uint8Array(), one.subarray(0, 31), Buffer.concat([one, two])]) {
    for (const given of [one, new Uint8Array(32)]) {
      t.equal(findKey([{ digest }], given), undefined)
      t.equal(isApiKeyOf({ apiKey: { digest } }, given), false)
    }
  }
})
