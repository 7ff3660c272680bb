import t from 'tap'
import { roundsFrom, seedFrom } from './effort.ts'
import { properties } from './properties.ts'
import { findCounterexample } from './property.ts'

/** `npm run fuzz` makes many more. */
const run = { seed: seedFrom(2026), cases: roundsFrom(30) }

for (const property of properties) {
  t.test(`${property.name} (seed ${run.seed}, ${run.cases} cases)`, async (t) => {
    t.equal(findCounterexample(property, run), undefined)
  })
}
