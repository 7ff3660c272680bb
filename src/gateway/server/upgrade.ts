import type { RequestHead } from '#http/exchange/request-head.ts'
import type { UpgradeResponse } from '../forward/forwarded-request.ts'
import { openTunnel, type Tunnel } from '../forward/tunnel.ts'
import { recordStatus } from '../gate/outcome.ts'
import type { Arrival } from './arrival.ts'
import { forgetHead } from './arrival-server.ts'

/** An upgrade accepted by the upstream. */
export interface AcceptedUpgrade {
  readonly arrival: Arrival
  readonly accepted: UpgradeResponse
}

export type UpgradeHandler = (upgrade: AcceptedUpgrade) => void

/** RFC 6455 4.1; anything else in Upgrade is ignored. */
export function isWebSocketUpgrade({ method, upgrade, body }: RequestHead): boolean {
  return upgrade === 'websocket' && method === 'GET' && body.kind === 'none'
}

/** Answers 101 with the upstream's headers and joins both sockets. */
export function acceptUpgrade({ arrival, accepted }: AcceptedUpgrade, onClosed: () => void): Tunnel {
  const { connection, outcome } = arrival
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
