import { parentPort, workerData } from 'node:worker_threads'
import { readSealingKeys } from '#platform/secrets/sealing-key.ts'

/** Opens sealing keys at the given moment, in a process or a thread; see sealing-key-racers.ts. */

function openNow(file: string): string {
  try {
    return readSealingKeys({ kind: 'file', file }, { mayCreate: true }).current.toString('hex')
  } catch (error) {
    return String(error)
  }
}

/** Returns when all threads have come this far. */
function meet(gates: Int32Array, round: number, count: number): void {
  Atomics.add(gates, round, 1)
  Atomics.notify(gates, round)
  for (let come = Atomics.load(gates, round); come < count; come = Atomics.load(gates, round)) {
    Atomics.wait(gates, round, come)
  }
}

export interface ThreadTask {
  readonly gates: Int32Array
  readonly count: number
  readonly files: readonly string[]
}

if (parentPort) {
  // The cast is sound: it is what openInThreads gives.
  const { gates, count, files } = workerData as ThreadTask
  parentPort.postMessage(
    files.map((file, round) => {
      meet(gates, round, count)
      return openNow(file)
    }),
  )
} else if (process.argv[2] === 'serve') {
  process.on('message', (file: string) => process.send?.(openNow(file)))
  process.on('disconnect', () => process.exit())
  process.send?.('ready')
}
