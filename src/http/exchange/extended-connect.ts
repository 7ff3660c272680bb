import type { ClientExchange } from './client-exchange.ts'
import type { RequestHead } from './request-head.ts'

/**
 * Whether a request with the form of an upgrade is an extended CONNECT of HTTP/2 (RFC 8441). To CONNECT any 2xx says
 * that the tunnel is open (RFC 9110 9.3.6): it gets none, unless a backend has accepted its WebSocket.
 */
export function isExtendedConnect(
  { httpVersion }: Pick<ClientExchange, 'httpVersion'>,
  { upgrade }: Pick<RequestHead, 'upgrade'>,
): boolean {
  return upgrade !== undefined && httpVersion === '2'
}
