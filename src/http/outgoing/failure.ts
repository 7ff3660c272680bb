import type { BodyFraming } from '../request-head.ts'
import type { SentBody } from './sent-body.ts'

/** Why a request got no complete response. */
export type FailureReason =
  | 'connect-failed'
  | 'connect-timeout'
  /** This machine has run out of descriptors, ports or memory for a connection. */
  | 'no-resources'
  /** No target is healthy. */
  | 'no-target'
  /** Every connection to the target was in use for too long. */
  | 'no-connection'
  | 'response-timeout'
  /** No data from the target for `timeouts.idle`. */
  | 'idle-timeout'
  /** The client has not read its response while others waited for a connection. */
  | 'response-stalled'
  /** No data from the client for `timeouts.idle`. */
  | 'body-stalled'
  | 'closed-early'
  /** The target has not begun to process the request, and says so. */
  | 'not-processed'
  | 'invalid-response'
  /** An error of our own, thrown while the response was handled. */
  | 'internal'

/** A failed call to an upstream. Its message is only for the log. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure'
  readonly reason: FailureReason

  constructor(reason: FailureReason, detail: string, cause?: unknown) {
    super(detail, { cause })
    this.reason = reason
  }
}

/** @param error what was thrown while a response was read or handled; anything unknown is an error of our own */
export function readFailure(error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error
  return new UpstreamFailure('internal', 'handling the response failed', error)
}

/** The upstream's response is not HTTP/1.1, or contradicts itself. */
export class InvalidResponse extends UpstreamFailure {
  constructor(detail: string) {
    super('invalid-response', detail)
  }
}

/** @param error what was thrown when the target closed the connection, at the end of a response or within one */
export function endFailure(error: unknown): UpstreamFailure {
  if (!(error instanceof InvalidResponse)) return readFailure(error)
  return new UpstreamFailure('closed-early', 'the target closed the connection', error)
}

/** Safe methods, which may be retried (RFC 9110 9.2.1, 9.2.2; QUERY: RFC 10008). */
const retryableMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'QUERY'])
/**
 * Failures that are not the target's fault: all our connections to it are in use, the client stopped sending or
 * reading, this machine has run out of descriptors, ports or memory, the target ends a connection in an orderly way, or
 * we have failed ourselves.
 */
const notTargetFault = new Set<FailureReason>([
  'no-connection',
  'no-resources',
  'body-stalled',
  'response-stalled',
  'not-processed',
  'internal',
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
  { body, method }: { readonly body: BodyFraming; readonly method: string },
  reason: FailureReason,
  isBodyGone: boolean,
): boolean {
  if (reason === 'internal') return false
  if (reason === 'not-processed') return !isBodyGone
  return neverSent.has(reason) || (body === 'none' && retryableMethods.has(method))
}

/** The connection was lost before anything of the request was written, so the target does not know of it. */
export class Unsent extends UpstreamFailure {
  /** The part of the body that had been accepted; undefined = the request has none. */
  readonly body: SentBody | undefined

  constructor(cause: UpstreamFailure, body: SentBody | undefined) {
    super('not-processed', cause.message, cause)
    this.body = body
  }
}

/** What a waiting request lacks: a free connection, or room in one of its shares. */
export type MissingShare = 'pool' | 'network' | 'account' | 'session' | 'bodies'

const users: Readonly<Record<Exclude<MissingShare, 'pool'>, string>> = {
  network: 'its client network',
  account: 'its account',
  session: 'its HTTP/2 connection',
  bodies: 'requests whose bodies are still arriving',
}

/** A request waited for a connection to its target, and none became free in time. */
export class NoConnection extends UpstreamFailure {
  readonly share: MissingShare

  /** @param inUse how many connections the share has in use */
  constructor(share: MissingShare, inUse: number, limits: { connectionsMax: number; waitedMs: number }) {
    const { connectionsMax, waitedMs } = limits
    const what =
      share === 'pool'
        ? `all ${connectionsMax} connections were in use`
        : `${users[share]} had its full share in use, ${inUse} of ${connectionsMax} connections,`
    super('no-connection', `${what} for ${waitedMs} ms`)
    this.share = share
  }
}
