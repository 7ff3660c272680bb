import { afterWrites } from '#http/turn.ts'
import type { CounterSeries } from '#ops/metrics/instrument.ts'
import type { Metrics } from '#ops/metrics/metrics.ts'
import { registeredMethods } from '#platform/http.ts'
import type { Log } from '#platform/log/log.ts'
import { memoize, memoizeLast } from '#platform/memoize.ts'
import { type MonotonicMs, monotonicClock } from '#platform/time.ts'
import { type Arrival, httpVersionOf } from '../arrival/arrival.ts'
import { clientClosedRequest } from '../arrival/outcome.ts'
import type { UnreadableRefusal } from '../refusals/send-problem.ts'
import { unmatchedRouteName } from '../routes/route.ts'
import { createAccessLineWriter } from './access-line.ts'
import type { RecordTrace } from './trace-recorder.ts'

export interface Observer {
  /** A request has arrived. */
  begin(): void
  /** The request is over: logs and counts it. @param isComplete whether the whole response has been sent */
  end(arrival: Arrival, isComplete: boolean): void
  /** A client sent a request that could not be parsed. */
  recordUnreadable(client: string, refusal: UnreadableRefusal): void
}

interface ObserverOptions {
  readonly metrics: Metrics
  readonly log: Log
  /** Whether access logging is on. */
  readonly logsAccess: boolean
  /** Name of the listener, in logs and metrics; undefined = the main one. */
  readonly listener?: 'decide' | 'redirect'
  /** How many routes the table has. */
  readonly routeCount: number
  /** undefined = tracing is off. */
  readonly recordTrace: RecordTrace | undefined
}

/** The status of a WebSocket, whose request is over when it closes. */
const switchingProtocols = 101
const tooManyRequests = 429
/** Label of a request whose method could not be parsed. */
const unknownMethod = 'unknown'
/** Label of a method that is not registered. */
const otherMethod = 'other'

/** Writes one line for each request and counts it. */
export function createObserver(options: ObserverOptions): Observer {
  const { metrics, log, logsAccess, listener = '', recordTrace } = options
  const { line: writeLine } = log
  const seriesNamed = memoize((route: string) => new RouteSeries(metrics, route, listener))
  const seriesByIndex = Array.from<RouteSeries | undefined>({ length: options.routeCount })
  const upstreamDurationOf = memoizeLast(
    memoize((upstream: string) => metrics.upstreamDuration.labels(upstream)),
  )
  const overhead = metrics.overhead.labels()
  const countOfVersion = {
    '1.0': metrics.requestsByVersion.labels('1.0'),
    '1.1': metrics.requestsByVersion.labels('1.1'),
    '2': metrics.requestsByVersion.labels('2'),
  }
  const accessLine = createAccessLineWriter(options.listener)

  // An error in these two concerns one request whose response is over, so it must not end the process.

  function end(arrival: Arrival, isComplete: boolean): void {
    metrics.requestEnded()
    try {
      const now = monotonicClock()
      afterWrites(() => observe(arrival, isComplete, now))
    } catch (error) {
      logUnobserved(arrival, error)
    }
  }

  function observe(arrival: Arrival, isComplete: boolean, now: MonotonicMs): void {
    try {
      observeEnd(arrival, isComplete, now)
    } catch (error) {
      logUnobserved(arrival, error)
    }
  }

  function logUnobserved({ requestId }: Arrival, err: unknown): void {
    log.error({ requestId, err }, 'internal error: the request was not counted or logged')
  }

  function observeEnd(arrival: Arrival, isComplete: boolean, now: MonotonicMs): void {
    // First: it starts the trace of a request that was not forwarded.
    recordTrace?.(arrival, now)
    count(arrival, now)
    if (arrival.outcome.fault !== undefined) logFault(arrival)
    if (logsAccess) writeLine(accessLine(arrival, now, isComplete), 'request')
  }

  function count(arrival: Arrival, now: MonotonicMs): void {
    const { head, outcome, arrivedAt } = arrival
    const { route, routeIndex, upstream, sentAt, answeredAt, trace, status = clientClosedRequest } = outcome
    // The time that a WebSocket stays open is not its latency.
    const endedAt = status === switchingProtocols ? (answeredAt ?? now) : now
    const series = seriesOf(route, routeIndex)
    const traceId = trace?.isSampled ? trace.traceId : undefined
    metrics.requestDuration.observeAt(series.durationStart, (endedAt - arrivedAt) / 1_000, traceId)
    metrics.requests.incAt(series.countPlace(head.method, status))
    countOfVersion[httpVersionOf(arrival)].value++
    // A 429 of an upstream is not counted here.
    if (status === tooManyRequests && upstream === undefined) metrics.rateLimited.inc({ route })
    if (upstream === undefined || sentAt === undefined) return
    upstreamDurationOf(upstream).observe(((answeredAt ?? now) - sentAt) / 1_000)
    if (answeredAt !== undefined) overhead.observe((sentAt - arrivedAt + endedAt - answeredAt) / 1_000)
  }

  /** Hot: series are looked up by the index of the route rather than by its name. */
  function seriesOf(route: string, index: number | undefined): RouteSeries {
    if (index === undefined) return seriesNamed(route)
    const known = seriesByIndex[index]
    if (known !== undefined) return known
    const series = seriesNamed(route)
    seriesByIndex[index] = series
    return series
  }

  /** Logged even when access logging is off: the stack is needed to fix it. */
  function logFault({ requestId, outcome }: Arrival): void {
    const { route, fault: err, trace } = outcome
    log.error(
      { requestId, ...(trace && { trace_id: trace.traceId, span_id: trace.spanId }), route, err },
      'internal error: the request failed',
    )
  }

  /** Its line has no method, path, version or duration: nothing of the request could be read. */
  function recordUnreadable(client: string, { requestId, error }: UnreadableRefusal): void {
    const { code, status, cause } = error
    const reason = cause instanceof Error ? cause.message : undefined
    metrics.requests.labels(unmatchedRouteName, unknownMethod, String(status), listener).value++
    if (!logsAccess) return
    log.info(
      {
        listener: options.listener,
        requestId,
        client,
        route: unmatchedRouteName,
        status,
        code,
        reason,
        isComplete: true,
      },
      'request',
    )
  }

  return { begin: metrics.requestStarted, end, recordUnreadable }
}

/** The series of one route. */
class RouteSeries {
  /** Index in the durations metric. */
  readonly durationStart: number
  readonly #countOf: (method: string) => (status: number) => CounterSeries
  #lastMethod = ''
  #lastStatus = 0
  #lastPlace = 0

  /** @param listener empty = the main one */
  constructor(metrics: Metrics, route: string, listener: string) {
    this.durationStart = metrics.requestDuration.labels(route, listener).start
    this.#countOf = memoize((method: string) =>
      memoize((status: number) => metrics.requests.labels(route, method, String(status), listener)),
    )
  }

  /** The index of the series that counts its requests with this method and status. */
  countPlace(method: string, status: number): number {
    if (this.#lastMethod === method && this.#lastStatus === status) return this.#lastPlace
    const label = methodLabel(method)
    const { place } = this.#countOf(label)(status)
    if (label !== method) return place
    this.#lastMethod = method
    this.#lastStatus = status
    this.#lastPlace = place
    return place
  }
}

/** Clients can invent methods, but must not create label values. */
function methodLabel(method: string): string {
  return registeredMethods.has(method) ? method : otherMethod
}
