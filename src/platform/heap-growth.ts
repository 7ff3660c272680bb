import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/**
 * By how much the heap may grow beyond what was in use after the last full collection. V8 lets it double or more, the
 * more the more memory the machine has: while caches fill, half of the heap is then garbage.
 */
const growthPercent = 25
/** Up to this size the young generation may double: it gets to 32 MiB, in V8 14 otherwise to 64. */
const youngBytesMax = 20 * 1_024 * 1_024

/**
 * Bounds the garbage that V8 keeps, for as long as the process runs. By flags that V8 reads at each collection: the
 * limits of its heap can only be given to Node itself, and a gateway is started in many ways.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`)
  let mayDouble = true
  // V8 decides at the end of a collection whether the young generation grows at the next one.
  const observer = new PerformanceObserver(() => {
    const before = mayDouble
    mayDouble = youngBytes() <= youngBytesMax
    if (mayDouble !== before) setFlagsFromString(`--semi-space-growth-factor=${mayDouble ? 2 : 1}`)
  })
  observer.observe({ entryTypes: ['gc'] })
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0
}
