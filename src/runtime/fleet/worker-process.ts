import cluster, { type Worker as Child } from 'node:cluster'
import { once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PackedSnapshot } from '#ops/metrics/metrics.ts'
import { errorMessage, OperatorError } from '#platform/errors/operator-error.ts'
import { type MonotonicMs, monotonicClock } from '#platform/time.ts'
import type { WorkerUrls } from '../request-server.ts'
import { type Channel, openChannel, type RequestHandlers } from './channel.ts'
import type { RequestsToFleet, RequestsToWorker, WorkerStartOptions } from './messages.ts'

export interface WorkerProcess {
  readonly urls: WorkerUrls
  readonly pid: number | undefined
  readonly channel: Channel<RequestsToWorker>
  /** When it began to serve requests. */
  readonly readyAt: MonotonicMs
  /** The metrics that it reported last. */
  lastSample: PackedSnapshot
  /** Resolves when the process has exited, for whatever reason. */
  readonly ended: Promise<WorkerExit>
  hasEnded(): boolean
  kill(): void
}

export interface WorkerExit {
  readonly exitCode: number | null
  readonly signal: string | null
}

/** Has the extension of this file: source or built. */
const entry = fileURLToPath(new URL(`./worker-main${extname(import.meta.url)}`, import.meta.url))

/** Makes all workers accept connections from one shared queue (docs/decisions/0013-workers.md). */
export function configureCluster(): void {
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({ exec: entry, args: [] })
}

/**
 * How long a worker may take to start: usually one second; on a busy machine, or with keys to create, perhaps ten. A
 * longer wait would delay reloads, which wait for every start.
 */
export const startTimeoutMs = 30_000

interface StartLimits {
  readonly timeoutMs: number
  /** Aborts the start. */
  readonly signal: AbortSignal
}

/**
 * Starts a worker.
 * @throws OperatorError if the worker cannot serve requests, or not in time; its process has then exited
 */
export async function startWorker(
  options: WorkerStartOptions,
  handlers: RequestHandlers<RequestsToFleet>,
  { timeoutMs, signal }: StartLimits,
): Promise<WorkerProcess> {
  const child = cluster.fork()
  let isOver = false
  const channel = openChannel<RequestsToWorker, RequestsToFleet>(pipeOf(child), handlers)
  const ended = once(child, 'exit').then(([exitCode, signal]: unknown[]): WorkerExit => {
    isOver = true
    channel.close()
    return { exitCode: numberOrNull(exitCode), signal: textOrNull(signal) }
  })
  const kill = () => void child.process.kill('SIGKILL')
  // A broken pipe is detected by the exit of the process.
  child.on('error', () => {})
  signal.addEventListener('abort', kill)
  try {
    const urls = await channel.request('start', options, timeoutMs)
    const { pid } = child.process
    const hasEnded = () => isOver
    return { urls, pid, channel, readyAt: monotonicClock(), lastSample: [], ended, hasEnded, kill }
  } catch (error) {
    kill()
    await ended
    if (error instanceof OperatorError) throw error
    throw new OperatorError(`a worker failed to start: ${errorMessage(error)}`, { cause: error })
  } finally {
    signal.removeEventListener('abort', kill)
  }
}

function pipeOf(child: Child) {
  return {
    send: (message: object, done: (error: Error | null) => void) => {
      child.send(message, undefined, undefined, done)
    },
    onMessage: (listener: (message: unknown) => void) => void child.on('message', listener),
  }
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
