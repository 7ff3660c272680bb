import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { type Debtor, Debts } from '#store/debts.ts'

const subjectsMax = 8
const now = 1_000

interface Use extends Debtor {
  readonly isDeletion: boolean
  readonly owedMs: number
}

/** Applies a use to both, as a rate would. */
function apply(debts: Debts, expected: Map<string, number>, { isDeletion, owedMs, ...debtor }: Use): void {
  // The cursor stands anywhere when something changes.
  debts.next()
  const place = debts.find(debtor.purpose, debtor.subject)
  // Also a place that is free, or was never used.
  for (let hint = -1; hint <= subjectsMax; hint++)
    assert.equal(debts.check(debtor.purpose, debtor.subject, hint), hint === place ? place : undefined)
  if (isDeletion) {
    debts.delete(debtor)
    expected.delete(nameOf(debtor))
    return
  }
  if (place === undefined && debts.size === subjectsMax) return
  debts.set(place ?? debts.add(debtor), now, owedMs)
  expected.set(nameOf(debtor), owedMs)
}

function nameOf({ purpose, subject }: Debtor): string {
  return `${purpose} ${subject}`
}

/** What is owed by whom, as the cursor finds it in one turn. */
function readAll(debts: Debts): Map<string, number> {
  const found = new Map<string, number>()
  for (let count = 0; count < 3 * subjectsMax; count++) {
    const debt = debts.next()
    if (debt) found.set(nameOf(debt), debts.remainingMs(debt.place, now))
  }
  return found
}

t.test('each subject has its own debt, whatever is added and deleted', async () => {
  const use = fc.record({
    isDeletion: fc.boolean(),
    purpose: fc.constantFrom('one', 'two', 'three'),
    subject: fc.constantFrom(...'abcd'),
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
        [...expected].every(([name, owedMs]) => found.get(name) === owedMs)
      )
    }),
    { numRuns: 2_000 },
  )
})

t.test('a debt runs off from when it was set, and not while the clock is before that', async (t) => {
  const debts = new Debts(1)
  const place = debts.add({ purpose: 'one', subject: 'a' })
  debts.set(place, now, 10)
  t.strictSame(
    [-5, 0, 4, 10, 20].map((ms) => debts.remainingMs(place, now + ms)),
    [10, 10, 6, 0, 0],
  )
})
