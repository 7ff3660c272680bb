import { execFileSync } from 'node:child_process'
import t from 'tap'

// slow: grows the heap of many processes

const mib = 1_048_576

/** In a process of its own: the flags are those of a whole process. Says how large the heap got while a cache churned. */
const script = `
import { setImmediate } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import { limitHeapGrowth } from '${new URL('../../src/runtime/v8.ts', import.meta.url)}'

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

function run<Result = { readonly old: number }>(how: string, code = script, ...more: string[]): Result {
  const args = ['--input-type=module', '--eval', code, how, ...more]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

t.test('the heap stays close to what is in use while a cache churns', async (t) => {
  const [limited, usual] = [run('limited'), run('as usual')]
  t.ok(limited.old < 0.8 * usual.old, `${limited.old / mib} MiB instead of ${usual.old / mib}`)
})

/** Says after how many collections the young generation has its size, where hardly anything survives, as of requests. */
const youngScript = `
import { PerformanceObserver } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import { limitHeapGrowth } from '${new URL('../../src/runtime/v8.ts', import.meta.url)}'

const [how, size, requestsInFlight] = process.argv.slice(1)
if (how === 'limited') limitHeapGrowth(() => Number(requestsInFlight))
let collections = 0
new PerformanceObserver((list) => (collections += list.getEntries().length)).observe({ entryTypes: ['gc'] })
const sizeOf = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size
for (let round = 0; round < 100_000 && sizeOf() < Number(size); round++) {
  globalThis.kept = Array.from({ length: 400 }, (_, number) => ({ text: 'entry ' + number }))
  if (round % 10 === 0) await setImmediate()
}
console.log(JSON.stringify({ collections, size: sizeOf() }))
`

t.test('the young generation grows to its size in one step', async (t) => {
  type Young = { readonly collections: number; readonly size: number }
  const grow = (how: string, sizeMib: number, requestsInFlight: number) =>
    run<Young>(how, youngScript, String(sizeMib * mib), String(requestsInFlight))
  const [limited, usual] = [grow('limited', 17, 0), grow('as usual', 17, 0)]
  t.ok(limited.size >= 17 * mib, `${limited.size / mib} MiB`)
  t.ok(limited.collections < usual.collections / 3, `${limited.collections} instead of ${usual.collections}`)
  t.ok(grow('limited', 40, 199).size < 40 * mib, 'with few requests in flight it stays small')
  t.ok(grow('limited', 40, 200).size >= 40 * mib, 'with many it gets larger')
})

/** Says how long V8 waits, in milliseconds, before it gives memory back. The heap has some 30 or 200 MiB. */
const waitingScript = `
import { limitHeapGrowth } from '${new URL('../../src/runtime/v8.ts', import.meta.url)}'

const [how, size] = process.argv.slice(1)
if (how === 'limited') limitHeapGrowth()
// A global, as V8 would collect another before it is large.
const kept = (globalThis.kept = [])
for (let number = 0; number < (size === 'large' ? 2_000_000 : 200_000); number++) kept.push({ text: 'entry ' + number })
// The size is looked at once a second, and V8 begins to wait after that.
setTimeout(() => globalThis.gc(), 2_000)
setTimeout(() => globalThis.gc(), 3_000)
`

function waitOf(how: 'limited' | 'as usual', size: 'small' | 'large'): number {
  const flags = ['--expose-gc', '--trace-memory-reducer', '--gc-memory-reducer-start-delay-ms=1500']
  const args = [...flags, '--input-type=module', '--eval', waitingScript, how, size]
  const trace = execFileSync(process.execPath, args, { encoding: 'utf8' })
  return Number(/.*Memory reducer: waiting for (\d+) ms/s.exec(trace)?.[1])
}

t.test('memory of a small heap is given back after a minute, that of a large one sooner', async (t) => {
  t.equal(waitOf('as usual', 'small'), 8_000, 'as V8 does by itself')
  t.equal(waitOf('limited', 'small'), 60_000)
  t.equal(waitOf('limited', 'large'), 8_000)
})
