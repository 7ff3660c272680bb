import { randomBytes } from 'node:crypto'
import t from 'tap'
import { compactDigest, findCompactKey, findKey, isApiKeyOf } from '#platform/secrets/keys.ts'

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

t.test('a digest that is kept as a text is found as well, by all of its bytes', async (t) => {
  const digests = Array.from({ length: 20 }, () => randomBytes(32))
  const keys = digests.map((digest) => ({ digest: compactDigest(digest) }))
  t.ok(keys.every(({ digest }) => digest.length === 32))
  for (const [index, digest] of digests.entries()) t.equal(findCompactKey(keys, digest), keys[index])
  t.equal(findCompactKey(keys, randomBytes(32)), undefined)
  t.equal(findCompactKey([], randomBytes(32)), undefined)
  const [one = Buffer.alloc(32)] = digests
  for (let place = 0; place < 32; place++) {
    const changed = Buffer.from(one)
    changed[place] = (changed[place] ?? 0) ^ 1
    t.equal(findCompactKey(keys, changed), undefined, `byte ${place}`)
  }
  for (const other of [one.subarray(1), one.subarray(0, 31), Buffer.concat([one, Buffer.alloc(1)])])
    t.equal(findCompactKey(keys, other), undefined, `${other.length} bytes`)
})
