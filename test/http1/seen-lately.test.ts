import t from 'tap'
import { SeenLately } from '../../src/http1/seen-lately.ts'

t.test('a mark is found again until another takes its place', async (t) => {
  const seen = new SeenLately()
  t.notOk(seen.note(5, 1))
  t.ok(seen.note(5, 1))
  t.notOk(seen.note(5 + 2_048, 2), 'at the same place')
  t.notOk(seen.note(5, 1))
})

t.test('two that take turns at one place are both found, once the places have changed', async (t) => {
  const seen = new SeenLately()
  let misses = 0
  while (![seen.note(5, 1), seen.note(5 + 2_048, 2)].every(Boolean)) misses++
  t.equal(misses, 1_025)
})

t.test('every fingerprint has a place, whichever the bits that lead to it', async (t) => {
  const seen = new SeenLately()
  const last = 2 ** 30 - 1
  for (let round = 0; round < 7; round++) {
    for (const fingerprint of [1, last]) {
      seen.note(fingerprint, round + 1)
      t.ok(seen.note(fingerprint, round + 1), `${fingerprint} in round ${round}`)
    }
    for (let miss = 0; miss < 2_048; miss++) seen.note(0x155, -1 - (miss % 2))
  }
})
