// First, before anything is loaded: a terminal or a supervisor may signal the whole process group, but the fleet
// decides when a worker exits.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})

const [{ cacheCompiledCode }, { deferOptimizing }] = await Promise.all([
  import('#platform/package.ts'),
  import('../v8/defer-optimizing.ts'),
])

cacheCompiledCode()
deferOptimizing()

const { runWorker } = await import('./run-worker.ts')
runWorker()

export {}
