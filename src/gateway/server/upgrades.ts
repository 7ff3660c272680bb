import type { MonotonicClock } from '#platform/clock.ts'
import type { Log } from '#platform/log/log.ts'
import type { Arrival } from '../arrival/arrival.ts'
import { recordStatus } from '../arrival/outcome.ts'
import type { UpgradeResponse } from '../forward/forwarded-request.ts'
import { openTunnel, type Tunnel } from '../forward/tunnel.ts'
import { forgetHead } from './arrival-server.ts'

/** Answers 101 with the upstream's headers and joins both sockets. */
export function acceptUpgrade(
  { connection, outcome }: Arrival,
  accepted: UpgradeResponse,
  onClosed: () => void,
): Tunnel {
  recordStatus(outcome, 101)
  const { stream, firstBytes } = connection.acceptUpgrade(accepted.reason, accepted.headerLines)
  const tunnel = openTunnel(stream, accepted.upstreamSocket, onClosed)
  // Bytes that arrived early are relayed first.
  if (accepted.firstBytes.length > 0) accepted.upstreamSocket.unshift(accepted.firstBytes)
  // The client closed its side while the upstream was deciding: the tunnel would not see that event.
  if (stream.readableEnded) {
    // Not `end('')`: an empty write would make TLS read.
    if (firstBytes !== undefined) accepted.upstreamSocket.write(firstBytes)
    accepted.upstreamSocket.end()
  } else if (firstBytes !== undefined) stream.unshift(firstBytes)
  stream.resume()
  forgetHead(connection)
  return tunnel
}

/** How long a route's message is not repeated: WebSocket clients retry again and again. */
const intervalMs = 60_000

/**
 * Creates the function that logs a WebSocket upgrade on a route without `websocket`, which is forwarded as an ordinary
 * request: its client only sees it fail. Once a minute for each route.
 */
export function createIgnoredUpgradeLog(
  log: Pick<Log, 'warn'>,
  monotonic: MonotonicClock,
): (route: string) => void {
  const loggedAt = new Map<string, number>()
  return function logIgnoredUpgrade(route) {
    const now = monotonic()
    if (now - (loggedAt.get(route) ?? Number.NEGATIVE_INFINITY) < intervalMs) return
    loggedAt.set(route, now)
    log.warn({ route }, 'WebSocket upgrade forwarded as an ordinary request: the route lacks websocket: true')
  }
}
