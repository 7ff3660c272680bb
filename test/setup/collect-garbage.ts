import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
// The cast is sound: this is what the flag adds.
const collect = runInNewContext('gc') as () => void

/** @returns how much memory buffers take that are still in use */
export async function collectGarbage(): Promise<number> {
  // What is freed may free others.
  for (let count = 0; count < 4; count++) {
    collect()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return process.memoryUsage().arrayBuffers
}
