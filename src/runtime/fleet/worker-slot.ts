import { once } from 'node:events'
import type { Log } from '#platform/log/log.ts'
import { monotonicClock } from '#platform/time.ts'
import type { PingReply, WorkerStartOptions } from './messages.ts'
import { startWorker, type WorkerExit, type WorkerProcess } from './worker-process.ts'

/** The place of one worker: a worker that dies is replaced. */
export interface WorkerSlot {
  /** Starts the first worker. @throws what keeps it from serving requests */
  start(): Promise<WorkerProcess>
  /** The current worker; undefined while there is none. */
  worker(): WorkerProcess | undefined
  /** A start in progress; resolves when it is over, even if it failed. */
  starting(): Promise<void> | undefined
  /** Stops replacing workers; waits this long for a start in progress, and then aborts it. */
  stop(withinMs: number): Promise<void>
}

interface WorkerSlotOptions {
  readonly number: number
  /** The options for a worker that starts now; waits while a change is in progress. */
  startOptions(): Promise<Omit<WorkerStartOptions, 'worker'>>
  readonly handlers: Parameters<typeof startWorker>[1]
  readonly log: Log
  /** How long a worker may take to start. */
  readonly startTimeoutMs: number
  /** A worker that served requests has died. */
  onDeath(worker: WorkerProcess): void
  /** A worker has answered a ping. */
  onPingReply(reply: PingReply): void
  /** A worker has stopped responding; it is killed. */
  onHung(worker: WorkerProcess): void
}

export function createWorkerSlot(options: WorkerSlotOptions): WorkerSlot {
  const { number, startOptions, handlers, log, startTimeoutMs, onDeath, onPingReply, onHung } = options
  const nextDelayMs = createBackoff()
  let worker: WorkerProcess | undefined
  let starting: Promise<void> | undefined
  let abortStart: () => void = () => {}
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  async function attemptStart(signal: AbortSignal): Promise<WorkerProcess> {
    const workerOptions = await rejectOnAbort(startOptions(), signal)
    if (isStopped) throw new Error('the gateway is shutting down')
    const limits = { timeoutMs: startTimeoutMs, signal }
    const started = await startWorker({ ...workerOptions, worker: number }, handlers, limits)
    worker = started
    log.info({ worker: number, pid: started.pid }, 'worker ready')
    void started.ended.then((ending) => onExit(started, ending))
    watchHeartbeat(started, { onPingReply, onHung: () => endHung(started) })
    return started
  }

  /** Only SIGKILL ends a suspended process. */
  function endHung(hung: WorkerProcess): void {
    log.error({ worker: number, pid: hung.pid }, 'worker not responding: killing and replacing it')
    onHung(hung)
    hung.kill()
  }

  function start(): Promise<WorkerProcess> {
    const controller = new AbortController()
    abortStart = () => controller.abort()
    const attempt = attemptStart(controller.signal)
    const isOver = () => {
      starting = undefined
    }
    starting = attempt.then(isOver, isOver)
    return attempt
  }

  function onExit(dead: WorkerProcess, { exitCode, signal }: WorkerExit): void {
    worker = undefined
    if (isStopped) return
    onDeath(dead)
    const delayMs = nextDelayMs(monotonicClock() - dead.readyAt)
    log.error(
      { worker: number, pid: dead.pid, exitCode, signal, delayMs },
      'worker exited unexpectedly: replacing it',
    )
    replaceAfter(delayMs)
  }

  function replaceAfter(delayMs: number): void {
    timer = setTimeout(() => void replace(), delayMs)
  }

  async function replace(): Promise<void> {
    try {
      await start()
    } catch (err) {
      if (isStopped) return
      const delayMs = nextDelayMs(0)
      log.error({ err, worker: number, delayMs }, 'replacement worker failed to start: retrying')
      replaceAfter(delayMs)
    }
  }

  return {
    start,
    worker: () => worker,
    starting: () => starting,
    stop: async (withinMs) => {
      isStopped = true
      clearTimeout(timer)
      if (!starting) return
      const abortTimer = setTimeout(abortStart, withinMs)
      await starting
      clearTimeout(abortTimer)
    },
  }
}

/** The result of the work, unless the start is aborted first. */
function rejectOnAbort<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const aborted = once(signal, 'abort').then((): never => {
    throw signal.reason
  })
  return Promise.race([work, aborted])
}

const stableUptimeMs = 10_000
const firstDelayMs = 100
const longestDelayMs = 10_000

/**
 * How long to wait before a worker is replaced: not at all if it had run for a while; if it keeps dying, longer each
 * time.
 * @returns a function of how long the dead worker had served requests; 0 = it never did
 */
export function createBackoff() {
  let earlyExits = 0

  return function nextDelayMs(uptimeMs: number): number {
    if (uptimeMs >= stableUptimeMs) earlyExits = 0
    const delayMs = earlyExits === 0 ? 0 : firstDelayMs * 2 ** (earlyExits - 1)
    earlyExits++
    return Math.min(delayMs, longestDelayMs)
  }
}

interface HeartbeatOptions {
  onPingReply(reply: PingReply): void
  /** Called once, when it has not answered for `silentMax` periods. */
  onHung(): void
}

/** How often a worker is pinged. */
const periodMs = 1_000
/**
 * How many periods a worker may be silent. They are counted, not timed: if this process was suspended, the responses
 * have arrived but have not been read yet.
 */
const silentMax = 5

/**
 * Watches a worker until it exits: one that is suspended, or in an endless loop, would hold its connections forever.
 */
function watchHeartbeat(worker: WorkerProcess, { onPingReply, onHung }: HeartbeatOptions): void {
  let silent = 0

  function beat(): void {
    if (silent === silentMax) {
      clearInterval(timer)
      onHung()
      return
    }
    silent++
    worker.channel.request('ping', null).then(
      (reply) => {
        silent = 0
        onPingReply(reply)
      },
      // It has exited, or is about to, which is handled elsewhere.
      () => {},
    )
  }

  beat()
  const timer = setInterval(beat, periodMs)
  timer.unref()
  void worker.ended.then(() => clearInterval(timer))
}
