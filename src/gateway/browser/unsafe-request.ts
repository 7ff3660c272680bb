import type { RequestHead } from '#http/exchange/request-head.ts'
import type { BrowserFields } from './browser-fields.ts'

/** RFC 9110 9.2.1, of the methods that browsers send. */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Whether a request of a page may change something, or opens a WebSocket. */
export function isUnsafeRequest(
  { method, upgrade }: Pick<RequestHead, 'method' | 'upgrade'>,
  { isWebSocket }: Pick<BrowserFields, 'isWebSocket'>,
): boolean {
  return !safeMethods.has(method) || upgrade !== undefined || isWebSocket
}
