import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
// The cast is sound: with the flag set, a new context has this function.
const collectGarbage = runInNewContext('gc') as () => void

/** Bytes in use once all garbage is gone: heap, and the buffers outside of it. */
export function memoryInUse(): number {
  // The first frees buffers in the background, and only the second waits for that.
  collectGarbage()
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
