import t from 'tap'
import { properties } from './properties.ts'
import { findCounterexample } from './property.ts'

/** The same inputs each time; `npm run fuzz` makes others. */
const run = { seed: 2026, cases: 300 }

for (const property of properties) {
  t.test(`${property.name} (seed ${run.seed}, ${run.cases} cases)`, async (t) => {
    t.equal(findCounterexample(property, run), undefined)
  })
}
