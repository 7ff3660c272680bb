import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8'
import { everySecond } from '#platform/time.ts'

const mib = 1_024 * 1_024
/** The old generation of a small heap is at most this large. */
const smallBytesMax = 52 * mib
/** From this size on, the young generation is left alone: V8 would let it grow to 64 MiB, nearly all of it garbage. */
const youngBytesEnough = 20 * mib
/**
 * The size that it gets in one step. The first collection after some idle seconds shrinks it to its initial size, and
 * V8 doubles it only each time that as much has survived as it holds, which took more than 5 s of load, with six times
 * as many collections in the first second (2 % of the CPU).
 */
const youngBytesWanted = 28 * mib
/** The minimum size that is assumed, as at the start the half that objects are copied to has no memory yet. */
const youngBytesMin = 1.75 * mib

/**
 * How much a heap may grow beyond what was in use after the last full collection. A collection of a small heap takes 50
 * to 100 ms of CPU, on threads of its own: if all share one core, requests wait for 10 to 20 ms. V8 would let it grow
 * by about 4 MiB, which TLS connections fill within seconds.
 */
const growthPercent = { small: 75, large: 12 }
/**
 * How long there must be hardly any requests before memory is given back. V8 then also drops optimized code, and the
 * first second after such a pause costs up to twice the CPU, so a small heap is kept longer than V8's eight seconds.
 */
const reducerDelayMs = { small: 60_000, large: 8_000 }

/**
 * Sets how much garbage V8 keeps, for as long as the process runs: more than by default in a small heap, and less in a
 * large one, which V8 lets double or more, depending on the machine's memory, so that half of it is garbage while
 * caches fill. Uses flags that V8 reads at each collection: the limits of its heap can only be given to Node itself,
 * and a gateway is started in many ways.
 */
export function limitHeapGrowth(): void {
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
    const bytes = Math.max(youngBytes(), youngBytesMin)
    setYoungGrowth(bytes < youngBytesEnough ? Math.max(2, Math.floor(youngBytesWanted / bytes)) : 1)
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
