import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8'
import { everySecond } from '#platform/clock.ts'

const mib = 1_024 * 1_024
/** Up to which size of its old generation a heap is small. */
const smallBytesMax = 52 * mib
/** From this size on the young generation stays as it is: V8 would let it have 64 MiB, nearly all of it garbage. */
const youngBytesEnough = 20 * mib
/**
 * How large it is to become in one step. The first collection after some idle seconds makes it as small as at the start,
 * and V8 doubles it only each time that as much has survived as it holds: that took more than 5 s of load, with six times
 * as many collections in the first second (2 % of the CPU).
 */
const youngBytesWanted = 28 * mib
/** At least so much of it counts: at the start the half that objects are copied to has no memory yet. */
const youngBytesMin = 1.75 * mib

/**
 * By how much a heap may grow beyond what was in use after the last full collection. That of a small one takes 50 to 100 ms
 * of CPU, on threads of its own: where all share one core, requests wait for 10 to 20 ms meanwhile. V8 would let it grow by
 * some 4 MiB, which connections over TLS fill within seconds.
 */
const growthPercent = { small: 75, large: 12 }
/**
 * How long there is hardly a request before memory is given back. V8 drops optimized code of requests then, and the first
 * second after such a pause costs up to twice the CPU: that of a small heap is kept for longer than V8's eight seconds.
 */
const reducerDelayMs = { small: 60_000, large: 8_000 }

/**
 * Sets how much garbage V8 keeps, for as long as the process runs: more than it would in a small heap, and less in a large
 * one, which it lets double or more, the more the more memory the machine has, so that half of it is garbage while caches
 * fill. By flags that V8 reads at each collection: the limits of its heap can only be given to Node itself, and a gateway
 * is started in many ways.
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

/** Sets a flag of V8 where it has another value. */
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
