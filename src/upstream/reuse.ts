import type { Socket } from 'node:net'
import type { ConnectionPersistence } from './response-parser.ts'

/** How long an idle connection is kept where the upstream does not announce it: less than servers usually do. */
const defaultKeepAliveMs = 4_000
/** A connection is closed this long before the upstream announced to close it. */
const keepAliveMarginMs = 1_000

/** How long to wait for stray bytes after a chunked request; they close the connection. */
export const strayBytesGraceMs = 150

/** How long a connection may be reused after a response. */
export function reusableMs({ keepAliveMs }: ConnectionPersistence): number {
  return Math.max(0, (keepAliveMs ?? defaultKeepAliveMs + keepAliveMarginMs) - keepAliveMarginMs)
}

/**
 * Closes a connection that is not reused. Where the target does not expect it, by a reset: the side that closes first
 * otherwise holds its port for a minute, and clients who request only such responses could use up the ports.
 */
export function closeConnection(socket: Socket, { isExpected }: { readonly isExpected: boolean }): void {
  if (isExpected || 'encrypted' in socket || socket.destroyed) socket.destroy()
  else socket.resetAndDestroy()
}
