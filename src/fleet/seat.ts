import { once } from 'node:events'
import type { Log } from '../log/log.ts'
import { createBackoff } from './backoff.ts'
import { watchHeartbeat } from './heartbeat.ts'
import type { Pulse, StartTerms } from './questions.ts'
import { type Ending, startWorker, type WorkerProcess } from './worker-process.ts'

/** The place of one worker: a worker that dies is replaced. */
export interface Seat {
  /** Starts the first worker. @throws what keeps it from taking requests */
  fill(): Promise<WorkerProcess>
  /** The present worker; undefined while there is none. */
  worker(): WorkerProcess | undefined
  /** A start under way; resolves when it is over, even if it failed. */
  starting(): Promise<void> | undefined
  /** Stops replacing workers; waits this long for a start under way, and then aborts it. */
  leave(withinMs: number): Promise<void>
}

export interface SeatOptions {
  readonly number: number
  /** The terms for a worker that starts now; waits while a change is under way. */
  terms(): Promise<Omit<StartTerms, 'worker'>>
  readonly answerers: Parameters<typeof startWorker>[1]
  readonly log: Log
  /** How long a worker may take to start. */
  readonly startTimeoutMs: number
  /** A worker that took requests has died. */
  onDeath(worker: WorkerProcess): void
  /** A worker has answered that it runs. */
  onPulse(pulse: Pulse): void
  /** A worker does not answer any more; it is killed. */
  onHung(worker: WorkerProcess): void
}

export function createSeat(options: SeatOptions): Seat {
  const { number, terms, answerers, log, startTimeoutMs, onDeath, onPulse, onHung } = options
  const backoff = createBackoff()
  let worker: WorkerProcess | undefined
  let starting: Promise<void> | undefined
  let giveUp: () => void = () => {}
  let timer: NodeJS.Timeout | undefined
  let isLeft = false

  async function start(signal: AbortSignal): Promise<WorkerProcess> {
    const toldTerms = await orGivenUp(terms(), signal)
    if (isLeft) throw new Error('the gateway is ending')
    const limits = { timeoutMs: startTimeoutMs, signal }
    const started = await startWorker({ ...toldTerms, worker: number }, answerers, limits)
    worker = started
    log.info({ worker: number, pid: started.pid }, 'a worker takes requests')
    void started.ended.then((ending) => bury(started, ending))
    watchHeartbeat(started, { onPulse, onHung: () => endHung(started) })
    return started
  }

  /** Only SIGKILL ends a process that is stopped. */
  function endHung(hung: WorkerProcess): void {
    log.error(
      { worker: number, pid: hung.pid },
      'a worker does not answer any more: it is ended and replaced',
    )
    onHung(hung)
    hung.kill()
  }

  function fill(): Promise<WorkerProcess> {
    const controller = new AbortController()
    giveUp = () => controller.abort()
    const attempt = start(controller.signal)
    const isOver = () => {
      starting = undefined
    }
    starting = attempt.then(isOver, isOver)
    return attempt
  }

  function bury(dead: WorkerProcess, { exitCode, signal }: Ending): void {
    worker = undefined
    if (isLeft) return
    onDeath(dead)
    const delayMs = backoff.nextDelayMs(performance.now() - dead.upAt)
    log.error(
      { worker: number, pid: dead.pid, exitCode, signal, delayMs },
      'a worker has died and is replaced',
    )
    replaceAfter(delayMs)
  }

  function replaceAfter(delayMs: number): void {
    timer = setTimeout(() => void replace(), delayMs)
  }

  async function replace(): Promise<void> {
    try {
      await fill()
    } catch (err) {
      if (isLeft) return
      const delayMs = backoff.nextDelayMs(0)
      log.error({ err, worker: number, delayMs }, 'a worker could not be replaced: another try follows')
      replaceAfter(delayMs)
    }
  }

  return {
    fill,
    worker: () => worker,
    starting: () => starting,
    leave: async (withinMs) => {
      isLeft = true
      clearTimeout(timer)
      if (!starting) return
      const patience = setTimeout(giveUp, withinMs)
      await starting
      clearTimeout(patience)
    },
  }
}

/** The result of the work, unless the start is aborted before. */
function orGivenUp<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const givenUp = once(signal, 'abort').then((): never => {
    throw signal.reason
  })
  return Promise.race([work, givenUp])
}
