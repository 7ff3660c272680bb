import { randomBytes } from 'node:crypto'
import { monotonicClock } from '../clock.ts'
import type { LoadedConfig } from '../config/load.ts'
import type { Front } from '../front.ts'
import type { IdentityHealth } from '../identity.ts'
import type { Log } from '../log/log.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { StoreState } from '../store/condition.ts'
import { createLocalRates } from '../store/local-rates.ts'
import { mergeStates } from '../worker/store-watch.ts'
import { createFleetMetrics } from './fleet-metrics.ts'
import { healthOfAll } from './health.ts'
import { createMemory } from './memory.ts'
import { startOnPort } from './port.ts'
import { createSeat, type Seat } from './seat.ts'
import {
  prepareWorkers,
  startTimeoutMs as usualStartTimeoutMs,
  type WorkerProcess,
} from './worker-process.ts'

export interface FleetOptions {
  readonly loaded: LoadedConfig
  readonly log: Log
  /** The metrics of this process, which stand for the instance. */
  readonly metrics: Metrics
  /** How long a worker may take to start; default: `startTimeoutMs` of worker-process.ts. */
  readonly startTimeoutMs?: number
}

/** How long a worker may take to build a config, and to commit it. */
const changeTimeoutMs = 30_000
const healthTimeoutMs = 1_000
/** How much longer than its drain a worker may take to answer. */
const lastWordsMs = 5_000
/** How many bytes of text the memory of the workers takes at most. */
const memoryBytesMax = 64 * 1_024 * 1_024

/**
 * Starts the workers, and replaces those that die. This process takes no requests: it counts for the workers, merges
 * their metrics, and makes them change and end together.
 * @throws OperatorError where the first worker cannot take requests
 */
export async function openFleet(options: FleetOptions): Promise<Front> {
  const { loaded, log, metrics, startTimeoutMs = usualStartTimeoutMs } = options
  const { listen } = loaded.config
  const rates = createLocalRates(monotonicClock)
  const ticketKeys = randomBytes(48).toString('base64')
  // Accounts and sessions, as many of each as a worker caches.
  const memory = createMemory({
    entriesMax: 2 * loaded.config.cache.entriesMax,
    bytesMax: memoryBytesMax,
  })
  /** When any worker last read the change log, as they said last. */
  let lastReadAt: number | null = null
  let { snapshot } = loaded
  /** Where all workers listen: not 0, as those started later need the same. */
  let { port } = listen
  /** While a change is under way no worker is started: it might get neither config. */
  let changing: Promise<unknown> = Promise.resolve()

  async function terms() {
    await changing
    return { snapshot, port, ticketKeys, workers: listen.workers, lastReadAt }
  }

  prepareWorkers()
  const seats = Array.from({ length: listen.workers }, (_, index) =>
    createSeat({
      number: index + 1,
      terms,
      log,
      startTimeoutMs,
      answerers: {
        take: (takes) => takes.map(({ subject, rate }) => rates.take(subject, rate)),
        remember: (notes) => {
          memory.remember(index, notes)
          return null
        },
        recall: memory.recall,
      },
      onDeath: (worker) => {
        memory.leave(index)
        fleetMetrics.bury(worker)
      },
      onHung: () => metrics.workerHangs.inc(),
      onPulse: ({ lastReadAt: readAt }) => {
        if (readAt !== null) lastReadAt = Math.max(lastReadAt ?? readAt, readAt)
      },
    }),
  )
  const workers = () => seats.flatMap((seat) => seat.worker() ?? [])
  const fleetMetrics = createFleetMetrics({ metrics, workers })

  async function closeAll(): Promise<void> {
    fleetMetrics.close()
    await Promise.all(seats.map((seat) => seat.leave(0)))
    const left = workers()
    for (const worker of left) worker.kill()
    await Promise.all(left.map(({ ended }) => ended))
  }

  /** Starts the first worker alone: a first start makes files once, and reports an error once. */
  async function fillAll(): Promise<string> {
    const [first, ...others] = seats
    if (!first) throw new Error('a fleet without workers')
    const { url } = await startOnPort(listen, (chosen) => {
      port = chosen
      return first.fill()
    })
    await Promise.all(others.map((seat) => seat.fill()))
    return url
  }

  /** Waits for workers that are starting: they were given the config that is about to be replaced. */
  async function allStarted(): Promise<void> {
    const starts = seats.flatMap((seat) => seat.starting() ?? [])
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
      for (const { channel } of running) channel.ask('discard', null).catch(() => {})
    }
    const prepared = await Promise.allSettled(
      running.map(({ channel }) => channel.ask('prepare', { snapshot: next.snapshot }, changeTimeoutMs)),
    )
    // A worker that has ended meanwhile is replaced by one with the new config: that is no refusal of the others.
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
    await Promise.all(
      running.map(({ channel, kill }) => channel.ask('commit', null, changeTimeoutMs).catch(kill)),
    )
  }

  /** Workers that do not answer are left out. */
  async function health(): Promise<IdentityHealth> {
    return healthOfAll(
      await answersOf(workers().map(({ channel }) => channel.ask('health', null, healthTimeoutMs))),
    )
  }

  async function storeState(): Promise<StoreState> {
    return mergeStates(
      await answersOf(workers().map(({ channel }) => channel.ask('storeState', null, healthTimeoutMs))),
    )
  }

  /** A worker that is still starting has the same deadline for its start and its requests together. */
  async function drainSeat(seat: Seat, deadline: number): Promise<boolean> {
    await seat.leave(deadline - performance.now())
    const timeoutMs = Math.max(0, deadline - performance.now())
    const ending = seat.worker()?.channel.ask('drain', { timeoutMs }, timeoutMs + lastWordsMs)
    return ending?.catch(() => false) ?? true
  }

  async function drain(timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs
    const ends = await Promise.all(seats.map((seat) => drainSeat(seat, deadline)))
    return ends.every((isClean) => isClean)
  }

  try {
    const url = await fillAll()
    return {
      url,
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

async function answersOf<Answer>(asked: readonly Promise<Answer>[]): Promise<readonly Answer[]> {
  const answers = await Promise.allSettled(asked)
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
}
