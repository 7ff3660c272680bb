import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { everySecond } from '../every-second.ts'

/** A heap up to this size is left to V8: its collections are rare then, and bounding it costs a tenth of the CPU. */
const freeBytesMax = 72 * 1_024 * 1_024
/** By how much a larger one may grow beyond what was in use after the last full collection. */
const growthPercent = 25

/**
 * Bounds the garbage that V8 keeps in a large heap, for as long as the process runs: V8 lets it double or more, the more
 * the more memory the machine has, so that half of the heap is garbage while caches fill. By flags that V8 reads at each
 * collection: the limits of its heap can only be given to Node itself, and a gateway is started in many ways.
 */
export function limitHeapGrowth(): void {
  let isLimited = false
  everySecond(() => {
    const isLarge = getHeapStatistics().total_heap_size > freeBytesMax
    if (isLarge === isLimited) return
    isLimited = isLarge
    setFlagsFromString(`--heap-growing-percent=${isLarge ? growthPercent : 0}`)
    // The young generation, which V8 would let grow to 64 MiB, stays as it is.
    setFlagsFromString(`--semi-space-growth-factor=${isLarge ? 1 : 2}`)
  })
}
