/** The entry of the binary, which is the command line and, where the fleet has started it, a worker. */
import cluster from 'node:cluster'

if (cluster.isWorker) await import('#runtime/fleet/worker-main.ts')
else await import('../src/main.ts')
