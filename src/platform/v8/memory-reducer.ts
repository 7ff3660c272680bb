import { setFlagsFromString } from 'node:v8'

/** How long a process hardly allocates before V8 gives memory back. */
const delayMs = 60_000

/**
 * Has V8 give memory back only after a minute with hardly a request, not after eight seconds. It then collects what the
 * optimized code of the requests depends on as well, and drops that code: the first second after such a pause costs
 * twice the CPU.
 */
export function delayMemoryReducer(): void {
  setFlagsFromString(`--memory-reducer-delay-ms=${delayMs}`)
}
