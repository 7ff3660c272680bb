import { setFlagsFromString } from 'node:v8'

/** The optimizing compilers of V8, as its flags call them. */
const compilers = ['opt', 'maglev'] as const

let isDeferred = false

/**
 * Makes V8 optimize nothing until `startOptimizing`. What runs often during a start hardly runs after it, but its
 * optimized code, what the compilers allocate on their threads, and their pages of the Node binary would stay: 10 MB.
 * To be called after Node's compile cache is enabled: it has a folder for each set of V8's flags.
 */
export function deferOptimizing(): void {
  // Under --jitless there is nothing to defer, and V8 would crash if it was allowed to optimize. No WebAssembly shows it.
  if (!('WebAssembly' in globalThis)) return
  isDeferred = true
  for (const compiler of compilers) setFlagsFromString(`--no-${compiler}`)
}

/** Lets V8 optimize what runs often from now on; does nothing if nothing was deferred. */
export function startOptimizing(): void {
  if (!isDeferred) return
  isDeferred = false
  for (const compiler of compilers) setFlagsFromString(`--${compiler}`)
}
