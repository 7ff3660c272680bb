import { METHODS } from 'node:http'
import type { Log } from '../log/log.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { memoize } from '../platform/memoize.ts'
import { hideSecrets, secretStartPattern } from '../secrets/hide-secrets.ts'
import type { Arrival } from './arrival.ts'
import { principalOf, unmatchedRouteName } from './outcome.ts'
import type { UnreadableRefusal } from './refusals/unreadable.ts'

export interface Observer {
  /** A request has arrived. */
  begin(): void
  /** The request is over: logs and counts it. @param isComplete whether the whole response has been sent */
  end(arrival: Arrival, isComplete: boolean): void
  /** A client sent a request that could not be parsed. */
  recordUnreadable(client: string, refusal: UnreadableRefusal): void
}

export interface ObserverOptions {
  readonly metrics: Metrics
  readonly log: Log
  /** Whether access logging is on. */
  readonly logsAccess: boolean
  /** Which listener it is of, in logs and metrics; undefined = the main one. */
  readonly listener?: 'decide'
  /** Sends the spans of a request; undefined = tracing is off. */
  readonly recordTrace: ((arrival: Arrival, now: number) => void) | undefined
}

/** Registered methods: unregistered names come from clients, and never become a label. */
export const registeredMethods: ReadonlySet<string> = new Set(METHODS)
/** nginx's status for a client that disconnected before the response. Never sent. */
const clientClosedRequest = 499
/** The status of a WebSocket, whose request is over when it closes. */
const switchingProtocols = 101
const tooManyRequests = 429
/** Matches paths that may need redaction for the log: most do not. */
const mayNeedRedaction = new RegExp(`[?#%]|${secretStartPattern.source}`)
/** Label of a request whose method could not be parsed. */
const unknownMethod = 'unknown'
/** Label of a method that is not registered. */
const otherMethod = 'other'

/** Writes one line for each request and counts it. */
export function createObserver(options: ObserverOptions): Observer {
  const { metrics, log, logsAccess, listener = '', recordTrace } = options
  const seriesOf = memoize((route: string) => createRouteSeries(metrics, route, listener))
  const upstreamDurationOf = memoize((upstream: string) => metrics.upstreamDuration.labels(upstream))
  const overhead = metrics.overhead.labels()
  const listenerMember = jsonMember('listener', options.listener)

  function end(arrival: Arrival, isComplete: boolean): void {
    const now = performance.now()
    metrics.requestEnded()
    count(arrival, now)
    recordTrace?.(arrival, now)
    if (arrival.outcome.fault !== undefined) logFault(arrival)
    if (logsAccess) writeAccessLine(arrival, now, isComplete)
  }

  function count({ head, outcome, arrivedAt }: Arrival, now: number): void {
    const { route, upstream, sentAt, answeredAt, status = clientClosedRequest } = outcome
    // How long a WebSocket stays open is not its latency.
    const endedAt = status === switchingProtocols ? (answeredAt ?? now) : now
    const series = seriesOf(route)
    series.duration.observe((endedAt - arrivedAt) / 1_000)
    series.count(head.method, status)
    // A 429 of an upstream is not counted here.
    if (status === tooManyRequests && upstream === undefined) metrics.rateLimited.inc({ route })
    if (upstream === undefined || sentAt === undefined) return
    upstreamDurationOf(upstream).observe(((answeredAt ?? now) - sentAt) / 1_000)
    if (answeredAt !== undefined) overhead.observe((sentAt - arrivedAt + endedAt - answeredAt) / 1_000)
  }

  /** Logged even when access logging is off: the stack is needed to fix it. */
  function logFault({ requestId, outcome }: Arrival): void {
    const { route, fault: err } = outcome
    log.error({ requestId, route, err }, 'internal error: the request was answered 500')
  }

  function writeAccessLine(arrival: Arrival, now: number, isComplete: boolean): void {
    const { requestId, head, client, outcome, arrivedAt, connection } = arrival
    const { route, status = clientClosedRequest, upstream, code, reason, decision, destination } = outcome
    const path = pathForLog(destination?.target.sentPath ?? head.target)
    log.line(
      listenerMember +
        jsonMember('requestId', requestId) +
        jsonMember('client', client.address) +
        jsonMember('method', head.method) +
        jsonMember('path', path) +
        jsonMember('httpVersion', connection.httpVersion) +
        jsonMember('route', route) +
        `"status":${status},"durationMs":${Math.round((now - arrivedAt) * 1_000) / 1_000},` +
        jsonMember('scheme', decision?.scheme) +
        jsonMember('accountId', principalOf(outcome)?.accountId ?? outcome.accountId) +
        jsonMember('upstream', upstream) +
        jsonMember('code', code) +
        jsonMember('reason', reason) +
        `"isComplete":${isComplete},`,
      'request',
    )
  }

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

/** A member of a JSON object, followed by a comma; empty where there is no value. */
function jsonMember(name: string, value: string | undefined): string {
  return value === undefined ? '' : `"${name}":${JSON.stringify(value)},`
}

/** The series of one route. @param listener empty = the main one */
function createRouteSeries(metrics: Metrics, route: string, listener: string) {
  const countOf = memoize((method: string) =>
    memoize((status: number) => metrics.requests.labels(route, method, String(status), listener)),
  )
  return {
    duration: metrics.requestDuration.labels(route, listener),
    count: (method: string, status: number) => {
      countOf(methodLabel(method))(status).value++
    },
  }
}

/** Clients can invent methods, but must not create label values. */
function methodLabel(method: string): string {
  return registeredMethods.has(method) ? method : otherMethod
}

/**
 * The path without query, fragment and userinfo, which may contain anything. A key or token that is in the path by
 * mistake is redacted.
 */
function pathForLog(target: string): string {
  if (target.startsWith('/') && !mayNeedRedaction.test(target)) return target
  const path = target.split(/[?#]/, 1)[0]?.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1') ?? ''
  return hideSecrets(path)
}
