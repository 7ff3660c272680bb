import t from 'tap'
import { SeenLately } from '../../src/http1/seen-lately.ts'
import { createRandom } from '../upstream/random.ts'

const sets = 2_048
const places = 4 * sets

t.test('four marks of a set are found again, a fifth takes the place of one', async (t) => {
  const seen = new SeenLately()
  const marks = [1, 2, 3, 4]
  for (const mark of marks) t.notOk(seen.note(5 + mark * sets, mark))
  for (const mark of marks) t.ok(seen.note(5, mark))
  t.notOk(seen.note(5, 5))
  t.ok(seen.note(5, 5))
  t.equal(marks.filter((mark) => !seen.note(5, mark)).length > 0, true)
})

t.test('of twenty that take turns in one set all are found, once the sets have changed', async (t) => {
  const seen = new SeenLately()
  const fingerprints = Array.from({ length: 20 }, (_, number) => 5 + number * sets)
  let rounds = 0
  while (!fingerprints.map((fingerprint) => seen.note(fingerprint, fingerprint)).every(Boolean)) rounds++
  t.ok(rounds > places / 20 && rounds < 2 * (places / 20), `${rounds}`)
})

t.test('of 200 that take turns all are found, of 2,000 nearly all', async (t) => {
  const random = createRandom(7)
  for (const [count, missedMax] of [
    [200, 0],
    [2_000, 40],
  ] as const) {
    const seen = new SeenLately()
    const fingerprints = Array.from({ length: count }, () => random.below(2 ** 30))
    for (const fingerprint of fingerprints) seen.note(fingerprint, fingerprint)
    const missed = fingerprints.filter((fingerprint) => !seen.note(fingerprint, fingerprint)).length
    t.ok(missed <= missedMax, `${missed}`)
  }
})

t.test('every fingerprint has a place, whichever the bits that lead to it', async (t) => {
  const seen = new SeenLately()
  const last = 2 ** 30 - 1
  for (let round = 0; round < 7; round++) {
    for (const fingerprint of [1, last]) {
      seen.note(fingerprint, round + 1)
      t.ok(seen.note(fingerprint, round + 1), `${fingerprint} in round ${round}`)
    }
    for (let miss = 0; miss < places; miss++) seen.note(0x155, -1 - (miss % 5))
  }
})
