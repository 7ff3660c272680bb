import { type Config, type ConfigSnapshot, restoreConfig } from '#config/config.ts'
import { openMetrics } from '#ops/metrics/metrics.ts'
import { createLog, type Log, logUncaughtErrors } from '#platform/log/log.ts'
import { readVersion } from '#platform/package.ts'
import { openWorker, type Worker } from '../assembly/worker.ts'
import type { PreparedConfig, WorkerUrls } from '../request-server.ts'
import { tuneForTraffic } from '../v8.ts'
import { openChannel, type RequestHandlers } from './channel.ts'
import {
  fromSharedClock,
  type RequestsToFleet,
  type RequestsToWorker,
  toSharedClock,
  type WorkerStartOptions,
} from './messages.ts'
import { createRemoteCounts, createRemoteMemory } from './remote-state.ts'
import type { WorkerPorts } from './worker-ports.ts'

/** A started worker, and the change that it has prepared. */
interface RunningWorker {
  readonly worker: Worker
  readonly log: Log
  prepared: PreparedConfig | undefined
}

/** Serves the fleet's requests, in a process that the fleet has started. If the fleet exits, Node ends this process. */
export function runWorker(): void {
  const metrics = openMetrics({ version: readVersion() })
  let current: RunningWorker | undefined
  /** Numbers the changes, to recognise one that was discarded while it was being built. */
  let changes = 0

  function running(): RunningWorker {
    if (!current) throw new Error('the worker is not started')
    return current
  }

  async function start(options: WorkerStartOptions): Promise<WorkerUrls> {
    const { snapshot, ports, ticketKeys, worker: number, workers, lastReadAt } = options
    const config = restoreConfig(snapshot)
    const log = createLog({ ...config.log, worker: number })
    logUncaughtErrors(log)
    const worker = await openWorker({
      config: withPorts(config, ports),
      log,
      metrics,
      clock: Date.now,
      counts: createRemoteCounts(fleet, workers),
      memory: {
        ...createRemoteMemory(fleet),
        lastReadAt: lastReadAt === null ? undefined : fromSharedClock(lastReadAt),
      },
      keySetFetches: {
        // It is only rejected if the other process has exited, in which case this one exits too.
        fetch: (location, reason) => fleet.request('fetchKeySet', { location, reason }),
      },
      ticketKeys: Buffer.from(ticketKeys, 'base64'),
    })
    current = { worker, log, prepared: undefined }
    // As a single process does after its start; later than the answer, so that the fleet does not wait for it.
    setImmediate(tuneForTraffic, metrics.requestsInFlight)
    const { url, decideUrl, redirectUrl } = worker
    return { url, decideUrl, redirectUrl }
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
    // The fleet ends the process as soon as it has the response.
    await new Promise<void>((resolve) => log.flush(() => resolve()))
    return isClean
  }

  function lastReadAt(): number | null {
    const readAt = running().worker.lastReadAt()
    return readAt === Number.NEGATIVE_INFINITY ? null : toSharedClock(readAt)
  }

  const handlers: RequestHandlers<RequestsToWorker> = {
    start,
    prepare: ({ snapshot }) => prepare(snapshot),
    commit,
    discard,
    ping: () => ({ lastReadAt: lastReadAt() }),
    sample: ({ isScrape }) => metrics.packedSnapshot(isScrape),
    health: () => running().worker.health(),
    storeState: () => running().worker.storeState(),
    drain: ({ timeoutMs }) => drain(timeoutMs),
  }
  const fleet = openChannel<RequestsToFleet, RequestsToWorker>(
    {
      send: (message, done) => void process.send?.(message, undefined, {}, done),
      onMessage: (listener) => void process.on('message', listener),
    },
    handlers,
  )
}

function withPorts(config: Config, ports: WorkerPorts): Config {
  const { listen, decide } = config
  return {
    ...config,
    listen: {
      ...listen,
      port: ports.listen,
      redirect: listen.redirect && { port: ports.redirect ?? listen.redirect.port },
    },
    decide: decide && { ...decide, port: ports.decide ?? decide.port },
  }
}
