import { executionAsyncResource } from 'node:async_hooks'
import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { everySecond } from '#platform/every-second.ts'

/** The object that Node made for one call of process.nextTick. */
let keptTick: object | undefined

/**
 * Keeps process.nextTick fast. Node creates an object for each call, with computed names. If a full garbage collection
 * finds none of them, V8 forgets their shape, and from then on creates them by calls into its runtime for as long as
 * the process lives (docs/performance.md). An object that is never freed prevents that. To be called before the first
 * full collection.
 */
export function keepTickShape(): void {
  if (keptTick !== undefined) return
  process.nextTick(() => {
    keptTick = executionAsyncResource()
  })
}

/**
 * To be called once the start is over: lets V8 optimise again, and tunes the heap for traffic. Its steps, which follow,
 * are exported for `bench/checks/`, where each is measured alone.
 */
export function tuneForTraffic(requestsInFlight: () => number): void {
  // A fifth of the memory is garbage of the start, which V8 would keep for hours. It is collected at once, although the
  // first requests wait for it: a collection also drops compiled code, and after V8 has optimised what requests run,
  // that would make each of them cost a tenth more for good.
  collectGarbage()
  disablePretenuring()
  startOptimizing()
  limitHeapGrowth(requestsInFlight)
}

/**
 * Collects all garbage, and returns unused memory to the system. Blocks for 30 to 100 ms. Called after the start, which
 * leaves more garbage than hours of requests, and not later, as it drops compiled code too.
 */
export function collectGarbage(): void {
  // Node only offers a flag for it, which is set here for the one context that is created afterwards.
  setFlagsFromString('--expose-gc')
  // The cast is sound: it is V8's own function.
  const collect = runInNewContext('gc') as (options: Readonly<Record<string, string>>) => void
  setFlagsFromString('--no-expose-gc')
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

/**
 * Keeps V8 from allocating objects directly in the old generation because most objects of their kind have survived a
 * collection. With some hundred open requests that seems to apply to everything that belongs to a request: only full
 * collections then freed it, with all that it referred to. With 1,000 connections a request took a seventh more CPU for
 * that, and the p99 latency was 90 instead of 35 ms.
 */
export function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}

/**
 * Lets V8 optimise from now on. The first thing that main.ts and worker-main.ts do is to forbid it: code that runs
 * often during a start rarely runs after it, but its optimised form, what the compilers allocate on their threads, and
 * their pages of the Node binary would remain: 10 MB.
 */
export function startOptimizing(): void {
  // Under --jitless, which leaves no WebAssembly, V8 would crash if it were allowed to optimise.
  if (!('WebAssembly' in globalThis)) return
  for (const flag of ['--opt', '--maglev']) setFlagsFromString(flag)
}

const mib = 1_024 * 1_024
/** The old generation of a small heap is at most this large. */
const smallBytesMax = 52 * mib
/**
 * The size that the young generation gets in one step, and the one from which on it is left alone: V8 would let it grow
 * to 64 MiB, nearly all of it garbage. The first collection after some idle seconds shrinks it to its initial size, and
 * V8 doubles it only each time that as much has survived as it holds, which took more than 5 s of load, with six times
 * as many collections in the first second (2 % of the CPU).
 *
 * Requests in flight survive each collection. With 1,000 of them that takes 3 µs of the CPU of each request, and half
 * as much in twice the size.
 */
const youngSizes = {
  usual: { bytesWanted: 28 * mib, bytesEnough: 20 * mib },
  manyRequests: { bytesWanted: 60 * mib, bytesEnough: 44 * mib },
}
/** From this number of requests in flight on there are many. */
const manyRequestsMin = 200
/** The least that is assumed for its size: at the start, the half that objects are copied to has no memory yet. */
const youngBytesMin = 1.75 * mib

/**
 * How much a heap may grow beyond what was in use after the last full collection. A collection of a small heap takes 50
 * to 100 ms of CPU, on threads of its own: if all share one core, requests wait for 10 to 20 ms. V8 would let it grow
 * by about 4 MiB, which TLS connections fill within seconds.
 */
const growthPercent = { small: 75, large: 12 }
/**
 * How long there must be hardly any requests before memory is given back. V8 then also drops optimised code, and the
 * first second after such a pause costs up to twice the CPU, so a small heap is kept longer than V8's eight seconds.
 */
const reducerDelayMs = { small: 60_000, large: 8_000 }

/**
 * Sets how much garbage V8 keeps, for as long as the process runs: more than by default in a small heap, and less in a
 * large one, which V8 lets double or more, depending on the machine's memory, so that half of it is garbage while
 * caches fill. Uses flags that V8 reads at each collection: the limits of its heap can only be given to Node itself,
 * and a gateway is started in many ways.
 */
export function limitHeapGrowth(requestsInFlight = () => 0): void {
  const setGrowth = flagSetter('heap-growing-percent')
  const setReducerDelay = flagSetter('memory-reducer-delay-ms')
  const setYoungGrowth = flagSetter('semi-space-growth-factor')

  function adjust(): void {
    const young = youngBytes()
    const size = getHeapStatistics().total_heap_size - young > smallBytesMax ? 'large' : 'small'
    setGrowth(growthPercent[size])
    setReducerDelay(reducerDelayMs[size])
  }

  function adjustYoung(): void {
    const { bytesWanted, bytesEnough } =
      youngSizes[requestsInFlight() < manyRequestsMin ? 'usual' : 'manyRequests']
    const bytes = Math.max(youngBytes(), youngBytesMin)
    setYoungGrowth(bytes < bytesEnough ? Math.max(2, Math.floor(bytesWanted / bytes)) : 1)
  }

  adjust()
  adjustYoung()
  everySecond(adjust)
  new PerformanceObserver(adjustYoung).observe({ entryTypes: ['gc'] })
}

/** Sets a flag of V8 if it has another value. */
function flagSetter(flag: string): (value: number) => void {
  let last: number | undefined
  return (value) => {
    if (value === last) return
    last = value
    setFlagsFromString(`--${flag}=${value}`)
  }
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0
}
