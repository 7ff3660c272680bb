import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { everySecond } from '../every-second.ts'

/** A heap up to this size grows as V8 likes: its collections are rare then, and bounding it costs a tenth of the CPU. */
const smallBytesMax = 72 * 1_024 * 1_024

const flags = {
  /**
   * Memory is given back after a minute with hardly a request, not after V8's eight seconds: V8 drops optimized code of
   * requests then, and the first second after such a pause would cost twice the CPU.
   */
  small: ['--heap-growing-percent=0', '--semi-space-growth-factor=2', '--memory-reducer-delay-ms=60000'],
  /**
   * A quarter of growth beyond what was in use after the last full collection. The young generation, which V8 would let
   * grow to 64 MiB, stays as it is.
   */
  large: ['--heap-growing-percent=25', '--semi-space-growth-factor=1', '--memory-reducer-delay-ms=8000'],
} as const

/**
 * Bounds the garbage that V8 keeps in a large heap, for as long as the process runs: V8 lets it double or more, the more
 * the more memory the machine has, so that half of the heap is garbage while caches fill. By flags that V8 reads at each
 * collection: the limits of its heap can only be given to Node itself, and a gateway is started in many ways.
 */
export function limitHeapGrowth(): void {
  let size = choose('small')
  everySecond(() => {
    const isLarge = getHeapStatistics().total_heap_size > smallBytesMax
    if (isLarge !== (size === 'large')) size = choose(isLarge ? 'large' : 'small')
  })
}

function choose(size: keyof typeof flags): keyof typeof flags {
  for (const flag of flags[size]) setFlagsFromString(flag)
  return size
}
