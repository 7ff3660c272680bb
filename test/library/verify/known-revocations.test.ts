import t from 'tap'
import { createKnownRevocations } from '#library/verify/revocation-events.ts'

const atMs = 1_800_000_000_000
const atS = atMs / 1_000
const keptMs = 60_000

function known({ since = 0, clockToleranceMs = 5_000 } = {}) {
  return createKnownRevocations({ since, keptMs, clockToleranceMs })
}

t.test('an assertion is older than a change by its position, whatever the clocks say', async (t) => {
  const revocations = known()
  revocations.add([{ sub: 'a', rev: 7, at: atMs }], 0)
  t.equal(revocations.verdict({ sub: 'a', rev: 6, iat: atS + 1_000 }), 'revoked')
  t.equal(revocations.verdict({ sub: 'a', rev: 7, iat: atS - 1_000 }), 'valid')
  t.equal(revocations.verdict({ sub: 'b', rev: 0, iat: atS }), 'valid')
  revocations.add([{ sub: 'a', rev: 5, at: atMs + 1 }], 0)
  t.equal(revocations.verdict({ sub: 'a', rev: 6, iat: atS }), 'revoked', 'an earlier change undoes nothing')
})

t.test('a token is older than a change up to the end of the tolerance, in whole seconds', async (t) => {
  for (const [clockToleranceMs, firstS] of [
    [5_000, atS + 6],
    [0, atS + 1],
  ] as const) {
    const revocations = known({ clockToleranceMs })
    revocations.add([{ sub: 'a', rev: 7, at: atMs + 999 }], 0)
    t.equal(revocations.verdict({ sub: 'a', iat: firstS - 1 }), 'revoked')
    t.equal(revocations.verdict({ sub: 'a', iat: firstS }), 'valid')
    t.equal(revocations.verdict({ sub: 'a' }), 'revoked', 'without a time')
  }
})

t.test('a session ends for good, and for itself only', async (t) => {
  const revocations = known()
  revocations.add([{ sid: 's', at: atMs }], 0)
  t.equal(revocations.verdict({ sub: 'a', sid: 's', rev: 1e9, iat: atS + 1e6 }), 'revoked')
  t.equal(revocations.verdict({ sub: 's', sid: 'other', iat: atS }), 'valid')
})

t.test('what was issued before revocations are known is unknown', async (t) => {
  const revocations = known({ since: atMs })
  t.equal(revocations.verdict({ sub: 'a', rev: 5, iat: atS + 5 }), 'unknown')
  t.equal(revocations.verdict({ sub: 'a', rev: 5, iat: atS + 6 }), 'valid')
  revocations.add([{ sid: 's', at: atMs }], 0)
  t.equal(revocations.verdict({ sub: 'a', sid: 's', iat: atS }), 'revoked', 'unless it is known')
})

t.test('what can no longer be valid is forgotten', async (t) => {
  const revocations = known()
  const old = { sub: 'a', rev: 6, iat: atS }
  revocations.add([{ sub: 'a', rev: 7, at: atMs }], 0)
  revocations.add([{ sub: 'b', rev: 8, at: atMs }], keptMs)
  t.equal(revocations.verdict(old), 'revoked')
  revocations.add([{ sub: 'b', rev: 9, at: atMs }], keptMs + 1)
  t.equal(revocations.verdict(old), 'valid')
})

t.test('of more than 100,000 revocations the last are known, and older assertions unknown', async (t) => {
  const revocations = known()
  for (let rev = 1; rev <= 100_000; rev++) revocations.add([{ sub: `a${rev}`, rev, at: atMs + rev }], 0)
  t.equal(revocations.verdict({ sub: 'a1', rev: 0, iat: atS }), 'revoked', 'none is missing yet')
  t.equal(revocations.verdict({ sub: 'x', rev: 0, iat: atS }), 'valid')
  for (let rev = 100_001; rev <= 200_000; rev++) revocations.add([{ sub: `a${rev}`, rev, at: atMs + rev }], 0)
  t.equal(revocations.verdict({ sub: 'a1', rev: 0, iat: atS }), 'unknown')
  t.equal(revocations.verdict({ sub: 'a200000', rev: 0, iat: atS }), 'revoked')
  t.equal(revocations.verdict({ sub: 'a1', rev: 200_000, iat: atS + 106 }), 'valid')
})
