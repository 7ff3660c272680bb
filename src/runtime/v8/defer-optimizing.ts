import { setFlagsFromString } from 'node:v8'

/** The optimizing compilers of V8, as its flags call them. */
const compilers = ['opt', 'maglev'] as const

let isDeferred = false

/**
 * Keeps V8 from optimizing anything until `startOptimizing`. Code that runs often during a start rarely runs after it,
 * but its optimized form, what the compilers allocate on their threads, and their pages of the Node binary would
 * remain: 10 MB. To be called after Node's compile cache is enabled, which has a folder for each set of V8's flags.
 */
export function deferOptimizing(): void {
  // Under --jitless, which leaves no WebAssembly, there is nothing to defer, and V8 would crash if it were allowed to
  // optimize.
  if (!('WebAssembly' in globalThis)) return
  isDeferred = true
  for (const compiler of compilers) setFlagsFromString(`--no-${compiler}`)
}

/** Lets V8 optimize from now on; does nothing if nothing was deferred. */
export function startOptimizing(): void {
  if (!isDeferred) return
  isDeferred = false
  for (const compiler of compilers) setFlagsFromString(`--${compiler}`)
}
