import fc from 'fast-check'
import t from 'tap'
import { Debts } from '../../src/store/debts.ts'

const subjectsMax = 8
const now = 1_000

interface Use {
  readonly isDeletion: boolean
  readonly subject: string
  readonly owedMs: number
}

/** Applies a use to both, as a rate would. */
function apply(debts: Debts, expected: Map<string, number>, { isDeletion, subject, owedMs }: Use): void {
  const place = debts.find(subject)
  if (isDeletion) {
    debts.delete(subject)
    expected.delete(subject)
    return
  }
  if (place === undefined && debts.size === subjectsMax) return
  if (place === undefined) debts.add(subject, now, owedMs)
  else debts.set(place, now, owedMs)
  expected.set(subject, owedMs)
}

/** What is owed by subject, as the cursor finds it in one turn. */
function readAll(debts: Debts): Map<string, number> {
  const found = new Map<string, number>()
  for (let count = 0; count < 3 * subjectsMax; count++) {
    const [subject, place] = debts.next() ?? []
    if (subject !== undefined && place !== undefined) found.set(subject, debts.remainingMs(place, now))
  }
  return found
}

t.test('each subject has its own debt, whatever is added and deleted', async () => {
  const use = fc.record({
    isDeletion: fc.boolean(),
    subject: fc.constantFrom(...'abcdefghijkl'),
    owedMs: fc.integer({ min: 1, max: 100 }),
  })
  fc.assert(
    fc.property(fc.array(use, { maxLength: 60 }), (uses) => {
      const debts = new Debts(subjectsMax)
      const expected = new Map<string, number>()
      for (const each of uses) apply(debts, expected, each)
      const found = readAll(debts)
      return (
        debts.size === expected.size &&
        found.size === expected.size &&
        [...expected].every(([subject, owedMs]) => found.get(subject) === owedMs)
      )
    }),
    { numRuns: 2_000 },
  )
})

t.test('a debt runs off from when it was set, and not while the clock is before that', async (t) => {
  const debts = new Debts(1)
  debts.add('a', now, 10)
  const place = debts.find('a') ?? -1
  t.strictSame(
    [-5, 0, 4, 10, 20].map((ms) => debts.remainingMs(place, now + ms)),
    [10, 10, 6, 0, 0],
  )
  t.strictSame([debts.isAhead(place, now - 1), debts.isAhead(place, now)], [true, false])
})
