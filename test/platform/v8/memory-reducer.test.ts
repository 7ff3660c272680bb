import { execFileSync } from 'node:child_process'
import t from 'tap'

/** In a process of its own: the flags are those of a whole process. Allocates until V8 has collected everything once. */
const script = `
import { delayMemoryReducer } from '${new URL('../../../src/platform/v8/memory-reducer.ts', import.meta.url)}'

if (process.argv[1] === 'delayed') delayMemoryReducer()
const kept = []
const timer = setInterval(() => {
  for (let number = 0; number < 100_000; number++) kept.push({ text: 'request ' + number })
  if (kept.length >= 2_000_000) clearInterval(timer)
}, 10)
`

/** How long V8 would wait before it gives memory back, in milliseconds. */
function delayOf(how: string): number | undefined {
  const flags = ['--trace-memory-reducer', '--gc-memory-reducer-start-delay-ms=50']
  const asked = [...flags, '--input-type=module', '--eval', script, how]
  const trace = execFileSync(process.execPath, asked, { encoding: 'utf8' })
  const delay = /Memory reducer: waiting for (\d+) ms/.exec(trace)?.[1]
  return delay === undefined ? undefined : Number(delay)
}

t.test(
  'memory is given back after a minute with hardly a request, by V8 alone after eight seconds',
  async (t) => {
    t.equal(delayOf('as usual'), 8_000, 'V8 would do so')
    t.equal(delayOf('delayed'), 60_000)
  },
)
