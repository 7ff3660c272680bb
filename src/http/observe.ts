import { hideSecrets, secretStart } from '../log/hide-secrets.ts'
import type { Log } from '../log/log.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { once } from '../metrics/once.ts'
import { type Arrival, principalOf, unmatched } from './arrival.ts'
import { knownMethods } from './known-methods.ts'
import type { UnreadableRefusal } from './unreadable.ts'

export interface Observer {
  /** A request has arrived. */
  begin(): void
  /** The request is over: writes its line, and counts its figures. @param isComplete whether the whole answer has left */
  end(arrival: Arrival, isComplete: boolean): void
  /** A client address sent a request that could not be read. */
  refuse(client: string, refusal: UnreadableRefusal): void
}

export interface ObserverOptions {
  readonly metrics: Metrics
  readonly log: Log
  /** Whether every request gets a line. */
  readonly logsAccess: boolean
  /** Sends the spans of a request; undefined = nothing is traced. */
  readonly recordTrace: ((arrival: Arrival, now: number) => void) | undefined
}

/** nginx's status for a client that closed before there was an answer. Never sent. */
const clientLeft = 499
/** The status of a WebSocket, whose request is over when it closes. */
const switching = 101
const tooManyRequests = 429
/** Matches paths that have to be cleaned for the log: most need not. */
const mayBeUnfit = new RegExp(`[?#%]|${secretStart.source}`)
/** Label of a request whose method could not be read. */
const unknownMethod = 'unknown'
/** Label of a method that is not registered. */
const otherMethod = 'other'

/** Writes one line for each request and counts it. */
export function createObserver({ metrics, log, logsAccess, recordTrace }: ObserverOptions): Observer {
  const figuresOf = once((route: string) => createRouteFigures(metrics, route))
  const upstreamDurationOf = once((upstream: string) => metrics.upstreamDuration.of(upstream))
  const overhead = metrics.overhead.of()

  function end(arrival: Arrival, isComplete: boolean): void {
    const now = performance.now()
    metrics.end()
    count(arrival, now)
    recordTrace?.(arrival, now)
    if (arrival.outcome.fault !== undefined) reportFault(arrival)
    if (logsAccess) writeLine(arrival, now, isComplete)
  }

  function count({ head, outcome, arrivedAt }: Arrival, now: number): void {
    const { route, upstream, sentAt, answeredAt, status = clientLeft } = outcome
    // How long a WebSocket stays open says nothing about how fast it was answered.
    const endedAt = status === switching ? (answeredAt ?? now) : now
    const figures = figuresOf(route)
    figures.duration.observe((endedAt - arrivedAt) / 1_000)
    figures.count(head.method, status)
    // One of an upstream is its own.
    if (status === tooManyRequests && upstream === undefined) metrics.rateLimited.inc({ route })
    if (upstream === undefined || sentAt === undefined) return
    upstreamDurationOf(upstream).observe(((answeredAt ?? now) - sentAt) / 1_000)
    if (answeredAt !== undefined) overhead.observe((sentAt - arrivedAt + endedAt - answeredAt) / 1_000)
  }

  /** Whatever is said of requests: where it was thrown is what mends it. */
  function reportFault({ requestId, outcome }: Arrival): void {
    const { route, fault: err } = outcome
    log.error({ requestId, route, err }, 'a fault of the gateway: the request was answered 500')
  }

  function writeLine(arrival: Arrival, now: number, isComplete: boolean): void {
    const { requestId, head, client, decision, outcome, arrivedAt, destination } = arrival
    const { route, status = clientLeft, upstream, code, reason } = outcome
    const path = pathForLog(destination?.target.sentPath ?? head.target)
    log.line(
      member('requestId', requestId) +
        member('client', client.address) +
        member('method', head.method) +
        member('path', path) +
        member('route', route) +
        `"status":${status},"durationMs":${Math.round((now - arrivedAt) * 1_000) / 1_000},` +
        member('scheme', decision?.scheme) +
        member('accountId', principalOf(arrival)?.accountId ?? outcome.accountId) +
        member('upstream', upstream) +
        member('code', code) +
        member('reason', reason) +
        `"isComplete":${isComplete},`,
      'request',
    )
  }

  function refuse(client: string, { requestId, error }: UnreadableRefusal): void {
    const { code, status, cause } = error
    const reason = cause instanceof Error ? cause.message : undefined
    metrics.requests.of(unmatched, unknownMethod, String(status)).value++
    if (!logsAccess) return
    log.info({ requestId, client, route: unmatched, status, code, reason, isComplete: true }, 'request')
  }

  return { begin: metrics.begin, end, refuse }
}

/** A member of a JSON object, followed by a comma; empty where there is no value. */
function member(name: string, value: string | undefined): string {
  return value === undefined ? '' : `"${name}":${JSON.stringify(value)},`
}

/** The series of one route. */
function createRouteFigures(metrics: Metrics, route: string) {
  const countOf = once((method: string) =>
    once((status: number) => metrics.requests.of(route, method, String(status))),
  )
  return {
    duration: metrics.requestDuration.of(route),
    count: (method: string, status: number) => {
      countOf(methodLabel(method))(status).value++
    },
  }
}

/** Clients can make up methods, but must not create label values. */
function methodLabel(method: string): string {
  return knownMethods.has(method) ? method : otherMethod
}

/**
 * The path without query, fragment and user, which may hold anything. A key or token that is in the path by mistake is
 * not written to the log.
 */
function pathForLog(target: string): string {
  if (target.startsWith('/') && !mayBeUnfit.test(target)) return target
  const path = target.split(/[?#]/, 1)[0]?.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1') ?? ''
  return hideSecrets(path)
}
