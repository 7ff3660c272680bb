import { execFileSync } from 'node:child_process'
import t from 'tap'

/** In a process of its own: the flags are those of a whole process. Says how large the heap got while a cache churned. */
const script = `
import { setImmediate } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import { limitHeapGrowth } from '${new URL('../../src/platform/heap-growth.ts', import.meta.url)}'

if (process.argv[1] === 'limited') limitHeapGrowth()
const kept = []
let [young, old] = [0, 0]
for (let round = 0; round < 200; round++) {
  for (let count = 0; count < 20_000; count++) {
    kept[Math.floor(Math.random() * 200_000)] = { text: 'entry ' + count, parts: [round, count] }
  }
  // As between requests: the collections are observed.
  await setImmediate()
  const spaces = getHeapSpaceStatistics()
  const sizeOf = (name) => spaces.find(({ space_name }) => space_name === name).space_size
  young = Math.max(young, sizeOf('new_space'))
  old = Math.max(old, sizeOf('old_space'))
}
console.log(JSON.stringify({ young, old }))
`

function run(how: string): { readonly young: number; readonly old: number } {
  const args = ['--input-type=module', '--eval', script, how]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

const mib = 1_048_576

t.test('the heap stays close to what is in use while a cache churns', async (t) => {
  const [limited, usual] = [run('limited'), run('as usual')]
  t.ok(limited.old < 0.8 * usual.old, `${limited.old / mib} MiB instead of ${usual.old / mib}`)
  // V8 lets it have 64.
  t.ok(limited.young < 48 * mib, `${limited.young / mib} MiB`)
})
