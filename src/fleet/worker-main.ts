import { cacheCompiledCode } from '../platform/compile-cache.ts'
import { deferOptimizing } from '../platform/v8/defer-optimizing.ts'

cacheCompiledCode()
deferOptimizing()

// A terminal or a supervisor may signal the whole process group, but the fleet decides when a worker exits.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})

const { runWorker } = await import('./run-worker.ts')
runWorker()
