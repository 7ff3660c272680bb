import { type ConfigSnapshot, restoreConfig } from '../config/snapshot.ts'
import type { PreparedChange } from '../front.ts'
import { createLog, type Log, watchForFaults } from '../log/log.ts'
import { createMetrics } from '../metrics/metrics.ts'
import { readVersion } from '../version.ts'
import { openWorker, type Worker } from '../worker/worker.ts'
import { type Answerers, openChannel } from './channel.ts'
import { createRemoteCounts } from './counts.ts'
import type { StartTerms, ToFleet, ToWorker } from './questions.ts'
import { createRemoteMemory } from './remote-memory.ts'
import { onOwnClock, onSystemClock } from './system-clock.ts'

/** A started worker, and the change that it has prepared. */
interface Running {
  readonly worker: Worker
  readonly log: Log
  prepared: PreparedChange | undefined
}

/** Does what the fleet says, in a process that the fleet has started. If the fleet ends, Node ends this process. */
export function runWorker(): void {
  const metrics = createMetrics({ version: readVersion() })
  let current: Running | undefined
  /** Numbers the changes, to recognise one that was discarded while it was being built. */
  let changes = 0

  function running(): Running {
    if (!current) throw new Error('a worker that was not started')
    return current
  }

  async function start(terms: StartTerms): Promise<{ url: string }> {
    const { snapshot, port, ticketKeys, worker: number, workers, lastReadAt } = terms
    const config = restoreConfig(snapshot)
    const log = createLog({ ...config.log, worker: number })
    watchForFaults(log)
    const worker = await openWorker({
      config: { ...config, listen: { ...config.listen, port } },
      log,
      metrics,
      clock: Date.now,
      counts: createRemoteCounts(fleet, workers),
      memory: {
        ...createRemoteMemory(fleet),
        lastReadAt: lastReadAt === null ? undefined : onOwnClock(lastReadAt),
      },
      ticketKeys: Buffer.from(ticketKeys, 'base64'),
    })
    current = { worker, log, prepared: undefined }
    return { url: worker.url }
  }

  async function prepare(snapshot: ConfigSnapshot): Promise<null> {
    const { worker } = running()
    changes++
    const change = changes
    const prepared = await worker.prepare(restoreConfig(snapshot))
    if (change === changes) running().prepared = prepared
    else prepared.discard()
    return null
  }

  async function commit(): Promise<null> {
    const { prepared } = running()
    running().prepared = undefined
    await prepared?.commit()
    return null
  }

  function discard(): null {
    changes++
    running().prepared?.discard()
    running().prepared = undefined
    return null
  }

  async function drain(timeoutMs: number): Promise<boolean> {
    const { worker, log } = running()
    const isClean = await worker.drain(timeoutMs)
    await worker.close()
    // The fleet ends the process as soon as it has the answer.
    await new Promise<void>((resolve) => log.flush(() => resolve()))
    return isClean
  }

  function lastReadAt(): number | null {
    const readAt = running().worker.lastReadAt()
    return readAt === Number.NEGATIVE_INFINITY ? null : onSystemClock(readAt)
  }

  const answerers: Answerers<ToWorker> = {
    start,
    prepare: ({ snapshot }) => prepare(snapshot),
    commit,
    discard,
    ping: () => ({ lastReadAt: lastReadAt() }),
    sample: metrics.snapshot,
    health: () => running().worker.health(),
    storeState: () => running().worker.storeState(),
    drain: ({ timeoutMs }) => drain(timeoutMs),
  }
  const fleet = openChannel<ToFleet, ToWorker>(
    {
      send: (message, done) => void process.send?.(message, undefined, {}, done),
      onMessage: (listener) => void process.on('message', listener),
    },
    answerers,
  )
}
