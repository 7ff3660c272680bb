import { randomBytes } from 'node:crypto'
import type { LoadedConfig } from '#config/load.ts'
import { mergeHealth } from '#identity/cache/store-connection.ts'
import { openKeySetFetches } from '#identity/issuers/issuer-fetches.ts'
import type { Metrics } from '#ops/metrics/metrics.ts'
import { mergeStoreStates } from '#ops/store-monitor.ts'
import type { Log } from '#platform/log/log.ts'
import { type MonotonicMs, monotonicClock } from '#platform/time.ts'
import { createLocalRates } from '#store/local-rates.ts'
import type { StoreHealth, StoreState } from '#store/store-health.ts'
import type { RequestServer, WorkerUrls } from '../request-server.ts'
import { createFleetMemory } from './fleet-memory.ts'
import { openFleetMetrics } from './fleet-metrics.ts'
import { startOnPorts, type WorkerPorts } from './worker-ports.ts'
import {
  configureCluster,
  startTimeoutMs as defaultStartTimeoutMs,
  type WorkerProcess,
} from './worker-process.ts'
import { createWorkerSlot, type WorkerSlot } from './worker-slot.ts'

interface FleetOptions {
  readonly loaded: LoadedConfig
  readonly log: Log
  /** The metrics of this process, which represent the instance. */
  readonly metrics: Metrics
  /** How long a worker may take to start; default: `startTimeoutMs` of worker-process.ts. */
  readonly startTimeoutMs?: number
}

/** How long a worker may take to build a config, and to commit it. */
const changeTimeoutMs = 30_000
const healthTimeoutMs = 1_000
/** How much longer than its drain a worker may take to respond. */
const drainGraceMs = 5_000
/** Maximum size of the fleet memory, in bytes of text. */
const memoryBytesMax = 64 * 1_024 * 1_024

/**
 * Starts the workers, and replaces those that die. This process serves no requests: it counts for the workers, fetches
 * the keys of issuers for them, merges their metrics, and makes them reload and exit together.
 * @throws OperatorError if the first worker cannot serve requests
 */
export async function openFleet(options: FleetOptions): Promise<RequestServer> {
  const { loaded, log, metrics, startTimeoutMs = defaultStartTimeoutMs } = options
  const { listen, decide } = loaded.config
  const rates = createLocalRates(monotonicClock)
  const ticketKeys = randomBytes(48).toString('base64')
  const memory = createFleetMemory({ entriesMax: memoryEntries(loaded), bytesMax: memoryBytesMax })
  const keySetFetches = openKeySetFetches(monotonicClock)
  /** When any worker last read the change log, according to the latest report. */
  let lastReadAt: number | null = null
  let { snapshot } = loaded
  /** The ports of all workers: never 0, as those started later need the same. */
  let ports: WorkerPorts = {
    listen: listen.port,
    decide: decide?.port,
    redirect: listen.redirect?.port,
  }
  /** The change in progress. No worker is started until it is over: one with the old config would miss the change. */
  let changing: Promise<unknown> = Promise.resolve()

  async function startOptions() {
    await changing
    return { snapshot, ports, ticketKeys, workers: listen.workers, lastReadAt }
  }

  configureCluster()
  const slots = Array.from({ length: listen.workers }, (_, index) => {
    const number = index + 1
    return createWorkerSlot({
      number,
      startOptions,
      log,
      startTimeoutMs,
      handlers: {
        take: (takes) => takes.map(({ purpose, subject, rate }) => rates.take(purpose, subject, rate)),
        remember: (notes) => {
          memory.remember(number, notes)
          return null
        },
        recall: memory.recall,
        fetchKeySet: ({ location, reason }) => keySetFetches.fetch(location, reason),
      },
      onDeath: (worker) => {
        memory.removeWorker(number)
        fleetMetrics.onWorkerExit(worker)
      },
      onHung: () => metrics.workerHangs.inc(),
      onPingReply: ({ lastReadAt: readAt }) => {
        if (readAt !== null) lastReadAt = Math.max(lastReadAt ?? readAt, readAt)
      },
    })
  })
  const workers = () => slots.flatMap((slot) => slot.worker() ?? [])
  const fleetMetrics = openFleetMetrics({ metrics, workers })

  async function closeAll(): Promise<void> {
    fleetMetrics.close()
    keySetFetches.close()
    await Promise.all(slots.map((slot) => slot.stop(0)))
    const left = workers()
    for (const worker of left) worker.kill()
    await Promise.all(left.map(({ ended }) => ended))
  }

  /** Starts the first worker alone, so that files are created once and an error is reported once. */
  async function startAll(): Promise<WorkerUrls> {
    const [first, ...others] = slots
    if (!first) throw new Error('a fleet without workers')
    const redirect = listen.redirect && { ...listen, ...listen.redirect }
    const { urls } = await startOnPorts({ listen, decide, redirect }, (chosen) => {
      ports = chosen
      return first.start()
    })
    await Promise.all(others.map((slot) => slot.start()))
    return urls
  }

  /** Waits for workers that are starting, as they have the config that is about to be replaced. */
  async function allStarted(): Promise<void> {
    const starts = slots.flatMap((slot) => slot.starting() ?? [])
    if (starts.length === 0) return
    await Promise.all(starts)
    await allStarted()
  }

  async function prepare(next: LoadedConfig) {
    const { promise, resolve: done } = Promise.withResolvers<void>()
    await allStarted()
    changing = promise
    const running = workers()
    const discard = () => {
      done()
      for (const { channel } of running) channel.request('discard', null).catch(() => {})
    }
    const prepared = await Promise.allSettled(
      running.map(({ channel }) => channel.request('prepare', { snapshot: next.snapshot }, changeTimeoutMs)),
    )
    // A worker that has exited in the meantime does not make the reload fail: it is replaced by one with the new
    // config.
    const asked = prepared.filter((_, index) => running[index]?.hasEnded() === false)
    const refusal = (asked.length > 0 ? asked : prepared).find((outcome) => outcome.status === 'rejected')
    if (refusal) {
      discard()
      throw refusal.reason
    }
    return { discard, commit: () => commit(next, running).finally(done) }
  }

  /** All workers commit it: one that fails is replaced by a new one with the new config. */
  async function commit(next: LoadedConfig, running: readonly WorkerProcess[]): Promise<void> {
    snapshot = next.snapshot
    log.level = next.config.log.level
    memory.resize(memoryEntries(next))
    await Promise.all(
      running.map(({ channel, kill }) => channel.request('commit', null, changeTimeoutMs).catch(kill)),
    )
  }

  /** Workers that do not respond are left out. */
  async function health(): Promise<StoreHealth> {
    return mergeHealth(
      await answersOf(workers().map(({ channel }) => channel.request('health', null, healthTimeoutMs))),
    )
  }

  async function storeState(): Promise<StoreState> {
    return mergeStoreStates(
      await answersOf(workers().map(({ channel }) => channel.request('storeState', null, healthTimeoutMs))),
    )
  }

  /** For a worker that is still starting, the start and its requests share the deadline. */
  async function drainSlot(slot: WorkerSlot, deadline: MonotonicMs): Promise<boolean> {
    await slot.stop(deadline - monotonicClock())
    const timeoutMs = Math.max(0, deadline - monotonicClock())
    const ending = slot.worker()?.channel.request('drain', { timeoutMs }, timeoutMs + drainGraceMs)
    return ending?.catch(() => false) ?? true
  }

  async function drain(timeoutMs: number): Promise<boolean> {
    const deadline = monotonicClock() + timeoutMs
    const ends = await Promise.all(slots.map((slot) => drainSlot(slot, deadline)))
    return ends.every((isClean) => isClean)
  }

  try {
    const urls = await startAll()
    return {
      ...urls,
      health,
      storeState,
      metricsText: fleetMetrics.text,
      metricsSnapshot: fleetMetrics.snapshot,
      prepare,
      drain,
      close: closeAll,
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

/** As many accounts and sessions as a worker caches. */
function memoryEntries({ config }: LoadedConfig): number {
  return 2 * config.cache.entriesMax
}

async function answersOf<Answer>(asked: readonly Promise<Answer>[]): Promise<readonly Answer[]> {
  const answers = await Promise.allSettled(asked)
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
}
