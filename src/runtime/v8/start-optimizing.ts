import { setFlagsFromString } from 'node:v8'

/**
 * Lets V8 optimize from now on, which main.ts and worker-main.ts keep it from as the first thing they do. Code that runs
 * often during a start rarely runs after it, but its optimized form, what the compilers allocate on their threads, and
 * their pages of the Node binary would remain: 10 MB.
 */
export function startOptimizing(): void {
  // Under --jitless, which leaves no WebAssembly, V8 would crash if it were allowed to optimize.
  if (!('WebAssembly' in globalThis)) return
  for (const flag of ['--opt', '--maglev']) setFlagsFromString(flag)
}
