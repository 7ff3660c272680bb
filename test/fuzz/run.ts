import { parseArgs } from 'node:util'
import { properties } from './properties.ts'
import { findCounterexample } from './property.ts'

/** `npm run fuzz`: tries every property with made-up inputs, by turns, and stops at the first that does not hold. */

const usage = `npm run fuzz -- [options]

  --cases N   1000000; inputs in all, shared by the properties
  --seed N    at random; that of an earlier run makes the same inputs again
  --only TEXT only properties whose name has this text
`
const casesOfTurn = 1_000

function wholeNumber(text: string): number {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= 0) return number
  process.stderr.write(`${text} is no whole number\n\n${usage}`)
  process.exit(2)
}

function fuzz(seed: number, cases: number, only: string): boolean {
  const chosen = properties.filter(({ name }) => name.includes(only))
  if (chosen.length === 0) {
    process.stderr.write(`no property has "${only}" in its name\n`)
    return false
  }
  const casesOfEach = Math.ceil(cases / chosen.length)
  process.stdout.write(`seed ${seed}: ${chosen.length} properties, ${casesOfEach} cases each\n`)
  for (let done = 0; done < casesOfEach; done += casesOfTurn) {
    const run = { seed: (seed + done) | 0, cases: Math.min(casesOfTurn, casesOfEach - done) }
    for (const property of chosen) {
      const found = findCounterexample(property, run)
      if (found === undefined) continue
      process.stdout.write(
        `\nDOES NOT HOLD: ${property.name}\n${found}\nagain: --seed ${run.seed} --cases ${run.cases * chosen.length}\n`,
      )
      return false
    }
    const percent = Math.floor((100 * (done + run.cases)) / casesOfEach)
    process.stderr.write(process.stderr.isTTY ? `\r${percent} %` : percent % 10 === 0 ? `${percent} %\n` : '')
  }
  process.stdout.write(`\nall hold: ${casesOfEach * chosen.length} cases\n`)
  return true
}

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    only: { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) process.stdout.write(usage)
else if (!fuzz(wholeNumber(values.seed), wholeNumber(values.cases), values.only)) process.exitCode = 1
