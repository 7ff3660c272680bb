import type { ConfigSnapshot } from '#config/config.ts'
import type { FetchedKeySet, FetchReason, KeySetLocation } from '#identity/issuers/issuer-fetches.ts'
import type { PackedSnapshot } from '#ops/metrics/metrics.ts'
import { startDeadline } from '#platform/deadline.ts'
import { errorMessage, OperatorError } from '#platform/errors/operator-error.ts'
import type { CountedPurpose, Rate, RateResult } from '#store/rates.ts'
import type { StoreHealth, StoreState } from '#store/store-health.ts'
import type { WorkerUrls } from '../request-server.ts'

/** The requests that one side may send to the other, by name: arguments and result, as plain JSON. */
type RequestTypes = Readonly<Record<string, { readonly given: unknown; readonly answer: unknown }>>

/** Handles the requests of the other side. */
export type RequestHandlers<Requests extends RequestTypes> = {
  readonly [Name in keyof Requests]: (
    given: Requests[Name]['given'],
  ) => Requests[Name]['answer'] | Promise<Requests[Name]['answer']>
}

/** Sends requests to another process. */
export interface Channel<Requests extends RequestTypes> {
  /** @throws what the other side threw; an Error if it exits, or does not respond in time */
  request<Name extends keyof Requests & string>(
    name: Name,
    given: Requests[Name]['given'],
    timeoutMs?: number,
  ): Promise<Requests[Name]['answer']>
  /** To be called when the other side has exited: pending requests are rejected. */
  close(): void
}

/** One end of the pipe between two processes. */
interface Pipe {
  send(message: object, done: (error: Error | null) => void): void
  onMessage(listener: (message: unknown) => void): void
}

type Message =
  | { readonly ask: string; readonly id: number; readonly given: unknown }
  | { readonly answerTo: number; readonly value: unknown }
  | { readonly answerTo: number; readonly fault: SerializedError }

interface SerializedError {
  readonly message: string
  readonly hint?: string | undefined
  /** The system's code for the cause, such as EADDRINUSE. */
  readonly causeCode?: string | undefined
  readonly isOperatorError: boolean
}

interface PendingRequest {
  resolve(value: unknown): void
  reject(error: Error): void
}

const closedMessage = 'the other process has exited'

/** Opens a channel in both directions. */
export function openChannel<Outgoing extends RequestTypes, Incoming extends RequestTypes>(
  pipe: Pipe,
  handlers: RequestHandlers<Incoming>,
): Channel<Outgoing> {
  const pending = new Map<number, PendingRequest>()
  let lastId = 0
  let isClosed = false

  function send(message: Message): void {
    if (isClosed) return
    pipe.send(message, (error) => {
      if (error && 'ask' in message) takePending(message.id)?.reject(error)
    })
  }

  function takePending(id: number): PendingRequest | undefined {
    const found = pending.get(id)
    pending.delete(id)
    return found
  }

  async function handle(name: string, id: number, given: unknown): Promise<void> {
    try {
      // The cast is sound: both ends have the same version, and send only the requests of this channel's types.
      const value = await handlers[name as keyof Incoming](given)
      send({ answerTo: id, value: value ?? null })
    } catch (error) {
      send({ answerTo: id, fault: serializeError(error) })
    }
  }

  pipe.onMessage((received) => {
    // The cast is sound for the same reason.
    const message = received as Message
    if ('ask' in message) void handle(message.ask, message.id, message.given)
    else if ('fault' in message) takePending(message.answerTo)?.reject(deserializeError(message.fault))
    else takePending(message.answerTo)?.resolve(message.value)
  })

  function request(name: string, given: unknown, timeoutMs?: number): Promise<unknown> {
    if (isClosed) return Promise.reject(new Error(closedMessage))
    const id = ++lastId
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    pending.set(id, { resolve, reject })
    send({ ask: name, id, given })
    if (timeoutMs === undefined) return promise
    const deadline = startDeadline(timeoutMs, () =>
      takePending(id)?.reject(new Error(`no response to ${name} within ${timeoutMs} ms`)),
    )
    return promise.finally(deadline.clear)
  }

  function close(): void {
    isClosed = true
    for (const id of [...pending.keys()]) takePending(id)?.reject(new Error(closedMessage))
  }

  // The cast is sound: a response has the type that belongs to its request.
  return { request: request as Channel<Outgoing>['request'], close }
}

function serializeError(error: unknown): SerializedError {
  if (!(error instanceof OperatorError)) return { message: errorMessage(error), isOperatorError: false }
  return { message: error.message, hint: error.hint, causeCode: codeOf(error.cause), isOperatorError: true }
}

function codeOf(cause: unknown): string | undefined {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
}

function deserializeError({ message, hint, causeCode, isOperatorError }: SerializedError): Error {
  if (!isOperatorError) return new Error(message)
  const cause = causeCode !== undefined && Object.assign(new Error(causeCode), { code: causeCode })
  return new OperatorError(message, { ...(hint !== undefined && { hint }), ...(cause && { cause }) })
}

/** The ports of a worker's listeners; undefined = not configured. */
export interface WorkerPorts {
  readonly listen: number
  readonly decide: number | undefined
  /** Port of the listener that redirects plain HTTP, if it is configured. */
  readonly redirect: number | undefined
}

/** Sent to a worker at its start. */
export interface WorkerStartOptions {
  readonly snapshot: ConfigSnapshot
  /** Never 0, as all workers listen on the same ports. */
  readonly ports: WorkerPorts
  /** 48 bytes in base64, so that any worker can resume a TLS session of another. */
  readonly ticketKeys: string
  /** The worker's number, from 1, and how many workers there are. */
  readonly worker: number
  readonly workers: number
  /** When a worker last read the change log, as far as known (toSharedClock); null = never. */
  readonly lastReadAt: number | null
}

/** Requests of the fleet to a worker. Both sides have the same version: the fleet starts its own files. */
export type RequestsToWorker = {
  /** Answered once it serves requests. */
  start: { given: WorkerStartOptions; answer: WorkerUrls }
  /** Builds another config beside the current one. */
  prepare: { given: { readonly snapshot: ConfigSnapshot }; answer: null }
  commit: { given: null; answer: null }
  discard: { given: null; answer: null }
  /** Answered immediately by a worker that is not hung. */
  ping: { given: null; answer: PingReply }
  sample: { given: null; answer: PackedSnapshot }
  health: { given: null; answer: StoreHealth }
  storeState: { given: null; answer: StoreState }
  /** Answered when the drain is over: false if requests were aborted. Then the worker exits. */
  drain: { given: { readonly timeoutMs: number }; answer: boolean }
}

/** Requests of a worker to the fleet. */
export type RequestsToFleet = {
  /** Counts for all workers together. */
  take: { given: readonly RateRequest[]; answer: readonly RateResult[] }
  /** What the workers of an instance remember together: `InstanceMemory` in identity/cache. */
  remember: { given: readonly MemoryUpdate[]; answer: null }
  recall: { given: readonly string[]; answer: readonly unknown[] }
  /** Fetches the keys of a foreign issuer once for all workers. */
  fetchKeySet: {
    given: { readonly location: KeySetLocation; readonly reason: FetchReason }
    answer: FetchedKeySet
  }
}

/** The response of a worker to a ping. */
export interface PingReply {
  /** When it last read the change log (toSharedClock); null = never. */
  readonly lastReadAt: number | null
}

/** What a worker has looked up or seen change; times are on the shared clock (toSharedClock). */
export type MemoryUpdate =
  | { readonly kind: 'learn'; readonly key: string; readonly value: unknown; readonly at: number }
  | { readonly kind: 'forget'; readonly key: string; readonly at: number }
  | { readonly kind: 'watch' | 'clear'; readonly at: number }

export interface RateRequest {
  readonly purpose: CountedPurpose
  readonly subject: string
  readonly rate: Rate
}

/** The origin of performance.now() in this process, on the clock of the machine. */
const originMs = Number(process.hrtime.bigint()) / 1e6 - performance.now()

/** A moment of performance.now() on the monotonic clock of the machine, which all its processes share; milliseconds. */
export function toSharedClock(now: number): number {
  return now + originMs
}

/** A moment on the clock of the machine as performance.now() of this process would have returned it. */
export function fromSharedClock(sharedMs: number): number {
  return sharedMs - originMs
}
