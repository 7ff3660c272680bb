import { execFileSync } from 'node:child_process'
import t from 'tap'

/** In a process of its own: the flags are those of a whole process. Says how large the heap got while a cache churned. */
const script = `
import { setImmediate } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import { limitHeapGrowth } from '${new URL('../../../src/platform/v8/heap-growth.ts', import.meta.url)}'

if (process.argv[1] === 'limited') limitHeapGrowth()
const kept = []
let old = 0
const start = performance.now()
for (let round = 0; round < 600 || performance.now() < start + 4_000; round++) {
  for (let count = 0; count < 20_000; count++) {
    kept[Math.floor(Math.random() * 200_000)] = { text: 'entry ' + count, parts: [round, count] }
  }
  await setImmediate()
  const spaces = getHeapSpaceStatistics()
  const { space_size } = spaces.find(({ space_name }) => space_name === 'old_space')
  // By then it is large, and has been seen to be.
  if (round > 200 && performance.now() > start + 2_000) old = Math.max(old, space_size)
}
console.log(JSON.stringify({ old }))
`

function run(how: string): { readonly old: number } {
  const args = ['--input-type=module', '--eval', script, how]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

const mib = 1_048_576

t.test('the heap stays close to what is in use while a cache churns', async (t) => {
  const [limited, usual] = [run('limited'), run('as usual')]
  t.ok(limited.old < 0.8 * usual.old, `${limited.old / mib} MiB instead of ${usual.old / mib}`)
})
