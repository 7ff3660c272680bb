import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The requests of a process. */
export interface RequestCounts {
  /** Since its start. */
  readonly begun: number
  readonly inFlight: number
}

/** How often a quiet moment is looked for; so long are those spared, too, who have waited for the start. */
const intervalMs = 1_000
/** So long no request has begun or was in flight: few begin in the next moment then. */
const quietMs = 100

/**
 * Collects the garbage of the start once, in the first moment without requests. Where there is none, V8 collects it
 * under their load. Keeps no process running.
 */
export async function collectGarbageWhenQuiet(
  readRequests: () => RequestCounts,
  collect = collectGarbage,
): Promise<void> {
  for (;;) {
    await sleep(intervalMs, undefined, { ref: false })
    const { begun } = readRequests()
    await sleep(quietMs, undefined, { ref: false })
    const now = readRequests()
    if (now.begun === begun && now.inFlight === 0) return collect()
  }
}

/**
 * Collects all garbage, and gives memory that is no longer used back to the system. Blocks for 30 to 100 ms: after the
 * start, which leaves more garbage than hours of requests, not while there are requests.
 */
export function collectGarbage(): void {
  // Node has no function for it, other than by a flag that is set here for the one context that is made after it.
  setFlagsFromString('--expose-gc')
  // The cast is sound: it is V8's own function.
  const collect = runInNewContext('gc') as (options: Readonly<Record<string, string>>) => void
  setFlagsFromString('--no-expose-gc')
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
