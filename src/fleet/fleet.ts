import { randomBytes } from 'node:crypto'
import type { LoadedConfig } from '../config/load.ts'
import type { Front } from '../front.ts'
import type { IdentityHealth } from '../identity.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { createLocalRates } from '../store/local-rates.ts'
import { createFleetMetrics } from './fleet-metrics.ts'
import { healthOfAll } from './health.ts'
import { pickPort } from './port.ts'
import { createSeat, type Seat } from './seat.ts'
import {
  prepareWorkers,
  startTimeoutMs as usualStartTimeoutMs,
  type WorkerProcess,
} from './worker-process.ts'

export interface FleetOptions {
  readonly loaded: LoadedConfig
  readonly log: Log
  /** Those of this process, which speak for the instance. */
  readonly metrics: Metrics
  readonly clock: () => number
  /** How long a worker may take until it takes requests; default: `startTimeoutMs` of worker-process.ts. */
  readonly startTimeoutMs?: number
}

/** How long a worker may take to build a config, and to take it. */
const changeTimeoutMs = 30_000
const healthTimeoutMs = 1_000
/** What a worker may take longer than its drain. */
const lastWordsMs = 5_000

/**
 * Starts the workers and sees that there are always as many. This process takes no request: it counts for
 * them, merges what they measure, and has them change and end together.
 * @throws OperatorError where the first cannot take requests
 */
export async function openFleet(options: FleetOptions): Promise<Front> {
  const { loaded, log, metrics, clock, startTimeoutMs = usualStartTimeoutMs } = options
  const { listen } = loaded.config
  const rates = createLocalRates(clock)
  const port = await pickPort(listen)
  const ticketKeys = randomBytes(48).toString('base64')
  let { snapshot } = loaded
  /** While a change is on its way no worker is started: it would take neither config. */
  let changing: Promise<unknown> = Promise.resolve()

  async function terms() {
    await changing
    return { snapshot, port, ticketKeys, workers: listen.workers }
  }

  prepareWorkers()
  const seats = Array.from({ length: listen.workers }, (_, index) =>
    createSeat({
      number: index + 1,
      terms,
      log,
      startTimeoutMs,
      answerers: { take: (takes) => takes.map(({ subject, rate }) => rates.take(subject, rate)) },
      onDeath: (worker) => fleetMetrics.bury(worker),
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

  /** Who starts now was told of the config that is about to be replaced. */
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
    const refusal = prepared.find((outcome) => outcome.status === 'rejected')
    if (refusal) {
      discard()
      throw refusal.reason
    }
    return { discard, commit: () => commit(next, running).finally(done) }
  }

  /** All take it: one that cannot any more is replaced by one that does. */
  async function commit(next: LoadedConfig, running: readonly WorkerProcess[]): Promise<void> {
    snapshot = next.snapshot
    log.level = next.config.log.level
    await Promise.all(
      running.map(({ channel, kill }) => channel.ask('commit', null, changeTimeoutMs).catch(kill)),
    )
  }

  /** Who does not answer has no say. */
  async function health(): Promise<IdentityHealth> {
    const asked = workers().map(({ channel }) => channel.ask('health', null, healthTimeoutMs))
    const answers = await Promise.allSettled(asked)
    return healthOfAll(answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : [])))
  }

  /** One that is still starting has as long for that and for its requests together as the others for theirs. */
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
    const url = await fillAll(seats)
    return {
      url,
      health,
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

/** The first alone: what is made at a first start is made once, and what is wrong is said once. */
async function fillAll([first, ...others]: readonly Seat[]): Promise<string> {
  if (!first) throw new Error('a fleet without workers')
  const { url } = await first.fill()
  await Promise.all(others.map((seat) => seat.fill()))
  return url
}
