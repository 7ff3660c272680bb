// First, before anything is loaded: a terminal or a supervisor may signal the whole process group, but the fleet
// decides when a worker exits. SIGUSR1 as in main.ts.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1'] as const) process.on(signal, () => {})

// As in main.ts.
const { setFlagsFromString } = process.getBuiltinModule('node:v8')
for (const flag of ['--no-opt', '--no-maglev']) setFlagsFromString(flag)

const { cacheCompiledCode } = await import('#platform/package.ts')
cacheCompiledCode()

const { runWorker } = await import('./run-worker.ts')
runWorker()

export {}
