import { execFileSync } from 'node:child_process'
import t from 'tap'

/** In a process of its own: the flags are those of a whole process. Creates objects of which many are kept for a while. */
const script = `
import { setImmediate } from 'node:timers/promises'
import { disablePretenuring } from '${new URL('../../src/runtime/v8.ts', import.meta.url)}'

if (process.argv[1] === 'disabled') disablePretenuring()
const open = []
for (let number = 0; number < 600_000; number++) {
  open[number % 50_000] = { text: 'request ' + number, head: { fields: [number, number + 1] } }
  if (number % 1_000 === 0) await setImmediate()
}
`

/** Nothing depends on how much time the machine has: a young generation that does not grow, collected by one thread. */
const collector = ['--single-threaded-gc', '--min-semi-space-size=2', '--max-semi-space-size=2']

/** For how many places of the program V8 decides to allocate in the old generation. */
function countPretenured(how: string): number {
  const flags = [...collector, '--trace-pretenuring-statistics', '--input-type=module', '--eval', script, how]
  const trace = execFileSync(process.execPath, flags, { encoding: 'utf8', maxBuffer: 64 * 1_048_576 })
  return [...trace.matchAll(/^.*pretenuring: AllocationSite.* => tenure$/gm)].length
}

t.test('nothing is allocated in the old generation, however long objects were kept before', async (t) => {
  t.ok(countPretenured('as usual') > 0, 'V8 would do so')
  t.equal(countPretenured('disabled'), 0)
})
