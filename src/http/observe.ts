import { METHODS } from 'node:http'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { type Arrival, unmatched } from './arrival.ts'
import type { Refusal } from './unreadable.ts'

export interface Observer {
  /** A request has arrived. */
  begin(): void
  /** It is over: its line is written, its figures are counted. @param isComplete whether the whole answer has left */
  end(arrival: Arrival, isComplete: boolean): void
  /** What came from a client address could not be read. */
  refuse(client: string, refusal: Refusal): void
}

export interface ObserverOptions {
  readonly metrics: Metrics
  readonly log: Log
  /** Whether every request gets a line. */
  readonly logsAccess: boolean
}

/** As nginx calls it: the client closed before there was an answer. Never sent. */
const clientLeft = 499
/** Keys and tokens have no place in a path; one that is there all the same is not written down. */
const secretInPath = /g(?:sk|ak|rt)_[0-9A-Za-z_-]+|eyJ[0-9A-Za-z_-]+\.[0-9A-Za-z_.-]+/g
/** Whoever encodes an escape does it once or twice, not to hide but by mistake. */
const decodingsMax = 3
/** Of a request that has no readable method. */
const unknownMethod = 'unknown'
/** Of a method that is not registered. */
const otherMethod = 'other'

/** Writes one line for each request and counts it. */
export function createObserver({ metrics, log, logsAccess }: ObserverOptions): Observer {
  function end(arrival: Arrival, isComplete: boolean): void {
    const now = performance.now()
    metrics.inFlight.dec()
    count(arrival, now)
    if (logsAccess) writeLine(arrival, now, isComplete)
  }

  function count({ head, outcome, arrivedAt }: Arrival, now: number): void {
    const { route, upstream, sentAt, answeredAt, status = clientLeft } = outcome
    metrics.requests.inc({ route, method: methodLabel(head.method), code: status })
    metrics.requestDuration.observe({ route }, (now - arrivedAt) / 1_000)
    if (upstream === undefined || sentAt === undefined) return
    metrics.upstreamDuration.observe({ upstream }, ((answeredAt ?? now) - sentAt) / 1_000)
    if (answeredAt !== undefined) metrics.overhead.observe((sentAt - arrivedAt + now - answeredAt) / 1_000)
  }

  function writeLine(
    { requestId, head, client, outcome, arrivedAt, destination }: Arrival,
    now: number,
    isComplete: boolean,
  ): void {
    const { route, status = clientLeft, scheme, principal, upstream, code, reason } = outcome
    log.info(
      {
        requestId,
        client: client.address,
        method: head.method,
        path: pathForLog(destination?.target.sentPath ?? head.target),
        route,
        status,
        durationMs: Math.round((now - arrivedAt) * 1_000) / 1_000,
        scheme,
        accountId: principal?.accountId,
        upstream,
        code,
        reason,
        isComplete,
      },
      'request',
    )
  }

  function refuse(client: string, { requestId, error }: Refusal): void {
    const { code, status, cause } = error
    const reason = cause instanceof Error ? cause.message : undefined
    metrics.requests.inc({ route: unmatched, method: unknownMethod, code: status })
    if (!logsAccess) return
    log.info({ requestId, client, route: unmatched, status, code, reason, isComplete: true }, 'request')
  }

  return { begin: () => metrics.inFlight.inc(), end, refuse }
}

const knownMethods: ReadonlySet<string> = new Set(METHODS)

/** Clients may make up methods, but no label values. */
function methodLabel(method: string): string {
  return knownMethods.has(method) ? method : otherMethod
}

/** Without query, fragment and user, which may hold anything. */
function pathForLog(target: string): string {
  const path = target.split(/[?#]/, 1)[0]?.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1') ?? ''
  const decoded = path.includes('%') ? decode(path) : path
  const withoutSecrets = decoded.replaceAll(secretInPath, '[secret]')
  return withoutSecrets === decoded ? path : withoutSecrets
}

function decode(path: string): string {
  let decoded = path
  for (let turn = 0; turn < decodingsMax && decoded.includes('%'); turn++) {
    decoded = decoded.replaceAll(/%([2-7][0-9a-f])/gi, (_escape, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
  }
  return decoded
}
