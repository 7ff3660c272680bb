import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { type Arrival, arrivalOf } from './arrival.ts'

export interface Observer {
  /** A request has arrived. */
  begin(): void
  /** It is over: its line is written, its figures are counted. */
  end(request: IncomingMessage, response: ServerResponse): void
}

export interface ObserverOptions {
  readonly metrics: Metrics
  readonly log: Log
  /** Whether every request gets a line. */
  readonly logsAccess: boolean
}

/** As nginx calls it: the client closed before there was an answer. Never sent. */
const clientLeft = 499
/** Written past the response, straight to the socket. */
const switchingProtocols = 101
/** Keys and tokens have no place in a path; one that is there all the same is not written down. */
const secretInPath = /g(?:sk|ak|rt)_[0-9A-Za-z_-]+|eyJ[0-9A-Za-z_-]+\.[0-9A-Za-z_.-]+/g

/** Writes one line for each request and counts it. */
export function createObserver({ metrics, log, logsAccess }: ObserverOptions): Observer {
  function end(request: IncomingMessage, response: ServerResponse): void {
    const arrival = arrivalOf(request)
    const now = performance.now()
    metrics.inFlight.dec()
    count(request, response, arrival, now)
    if (logsAccess) writeLine(request, response, arrival, now)
  }

  function count({ method }: IncomingMessage, response: ServerResponse, arrival: Arrival, now: number): void {
    const { outcome, arrivedAt } = arrival
    const { route, upstream, sentAt, answeredAt } = outcome
    metrics.requests.inc({ route, method: method ?? '', code: statusOf(response) })
    metrics.requestDuration.observe({ route }, (now - arrivedAt) / 1_000)
    if (upstream === undefined || sentAt === undefined) return
    metrics.upstreamDuration.observe({ upstream }, ((answeredAt ?? now) - sentAt) / 1_000)
    if (answeredAt !== undefined) metrics.overhead.observe((sentAt - arrivedAt + now - answeredAt) / 1_000)
  }

  function writeLine(
    { method, url }: IncomingMessage,
    response: ServerResponse,
    { requestId, client, outcome, arrivedAt, destination }: Arrival,
    now: number,
  ): void {
    const { route, scheme, principal, upstream, code, reason } = outcome
    log.info(
      {
        requestId,
        client: client.address,
        method,
        path: pathForLog(destination?.target.sentPath ?? url ?? ''),
        route,
        status: statusOf(response),
        durationMs: Math.round((now - arrivedAt) * 1_000) / 1_000,
        scheme,
        accountId: principal?.accountId,
        upstream,
        code,
        reason,
        isComplete: response.writableFinished,
      },
      'request',
    )
  }

  return { begin: () => metrics.inFlight.inc(), end }
}

function statusOf({ headersSent, statusCode }: ServerResponse): number {
  return headersSent || statusCode === switchingProtocols ? statusCode : clientLeft
}

/** Without the query, which may hold anything. */
function pathForLog(path: string): string {
  return (path.split('?', 1)[0] ?? '').replaceAll(secretInPath, '[secret]')
}
