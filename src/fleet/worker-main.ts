import { keepCompiled } from '../compile-cache.ts'

keepCompiled()

// A terminal, or whoever runs the gateway, may tell the whole group: when a worker ends is the fleet's to say.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})

const { runWorker } = await import('./run-worker.ts')
runWorker()
