import type { FailureReason } from '../outgoing/failure.ts'
import type { RequestOptions } from '../outgoing/upstream-connection.ts'

/** Safe methods, which may be retried (RFC 9110 9.2.1, 9.2.2; QUERY: RFC 10008). */
const retryableMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'QUERY'])
/**
 * Failures that are not the target's fault: all our connections to it are in use, the client stopped sending or
 * reading, this machine has run out of descriptors, ports or memory, or the target ends a connection in an orderly way.
 */
const notTargetFault = new Set<FailureReason>([
  'no-connection',
  'no-resources',
  'body-stalled',
  'response-stalled',
  'not-processed',
])
/** Failures to connect to the target: no client can cause them. */
const connectFailures = new Set<FailureReason>(['connect-failed', 'connect-timeout'])
/** Failures before anything was sent. */
const neverSent = new Set<FailureReason>([...connectFailures, 'no-connection', 'no-resources'])

export function isTargetFault(reason: FailureReason): boolean {
  return !notTargetFault.has(reason)
}

export function isConnectFailure(reason: FailureReason): boolean {
  return connectFailures.has(reason)
}

/**
 * Whether a request that has not been answered may be sent again.
 * @param isBodyGone whether a part of its body was sent that has not been kept
 */
export function mayBeSentAgain(
  { body, method }: Pick<RequestOptions, 'body' | 'method'>,
  reason: FailureReason,
  isBodyGone: boolean,
): boolean {
  if (reason === 'not-processed') return !isBodyGone
  return neverSent.has(reason) || (body === 'none' && retryableMethods.has(method))
}
