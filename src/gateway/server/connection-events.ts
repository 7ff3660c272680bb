import type { Metrics } from '#ops/metrics/metrics.ts'
import type { Log } from '#platform/log/log.ts'
import { type MonotonicMs, monotonicClock } from '#platform/time.ts'
import type { SharedListenerOptions } from './arrival-server.ts'

/** Counts and logs connections that fail. A flood causes thousands, so totals are logged at intervals. */
export function createConnectionEvents(
  { connectionsDropped, http2ConnectionsCut }: Metrics,
  log: Log,
): Pick<SharedListenerOptions, 'onDropped' | 'onAcceptError' | 'onSessionError'> {
  const reportDropped = createTotalsReporter()
  const reportCut = createTotalsReporter()
  return {
    onAcceptError: (err) => log.warn({ err }, 'cannot accept a connection'),
    onDropped: () => {
      connectionsDropped.inc()
      reportDropped((connections) =>
        log.warn({ connections }, 'connections dropped: almost out of file descriptors'),
      )
    },
    onSessionError: (client, err) => {
      http2ConnectionsCut.inc()
      reportCut((connections) =>
        log.warn({ client, connections, err }, 'HTTP/2 connections cut off: the client broke the protocol'),
      )
    },
  }
}

/** How often dropped connections, or HTTP/2 connections that were cut off, are logged at most. */
const logIntervalMs = 10_000

/** Writes the first report, and then totals at intervals. */
function createTotalsReporter(): (write: (total: number) => void) => void {
  let total = 0
  let reportedAt: MonotonicMs = Number.NEGATIVE_INFINITY
  return function report(write) {
    total++
    const now = monotonicClock()
    if (now - reportedAt < logIntervalMs) return
    write(total)
    reportedAt = now
    total = 0
  }
}
