import type { Arrival } from '../arrival/arrival.ts'
import { recordStatus } from '../arrival/outcome.ts'
import type { UpgradeResponse } from '../forward/forwarded-request.ts'
import { openTunnel, type Tunnel } from '../forward/tunnel.ts'
import { forgetHead } from './arrival-server.ts'

/** Answers 101 with the upstream's headers and joins both sockets. */
export function joinTunnel(
  { exchange, outcome }: Arrival,
  accepted: UpgradeResponse,
  onClosed: () => void,
): Tunnel {
  recordStatus(outcome, 101)
  const { stream, firstBytes } = exchange.acceptUpgrade(accepted.reason, accepted.headerLines)
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
  forgetHead(exchange)
  return tunnel
}
