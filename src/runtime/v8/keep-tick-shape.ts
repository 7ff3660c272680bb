import { executionAsyncResource } from 'node:async_hooks'

/** The object that Node made for one call of process.nextTick. */
let keptTick: object | undefined

/**
 * Keeps process.nextTick fast. Node creates an object for each call, with computed names. If a full garbage collection
 * finds none of them, V8 forgets their shape, and from then on creates them by calls into its runtime for as long as
 * the process lives (docs/performance.md). An object that is never freed prevents that. To be called before the first
 * full collection.
 */
export function keepTickShape(): void {
  if (keptTick === undefined) process.nextTick(keepTick)
}

function keepTick(): void {
  keptTick = executionAsyncResource()
}
