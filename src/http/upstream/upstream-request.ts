import type { MonotonicMs } from '#platform/time.ts'
import type {
  RequestOptions,
  UpstreamConnection,
  UpstreamResponseEvents,
} from '../outgoing/upstream-connection.ts'
import type { PoolUser } from './pool/parties.ts'
import type { Target } from './target.ts'

export interface UpstreamRequest extends RequestOptions, PoolUser {
  /** Determines the target if balancing is `ipHash`. */
  readonly clientAddress: string
  /** The IDs of targets that the client names, where balancing is `sticky` (see TargetIds). */
  readonly targetIds: readonly string[]
  /** The complete head for a target, including the empty line at its end. */
  headFor(target: Target): string
}

export interface CallEvents extends UpstreamResponseEvents {
  /** The head was sent to a target: the body may now follow, or continue if the request is sent again. */
  onSent(target: Target, now: MonotonicMs): void
}

/** A request that a call takes over from other code, which has sent all of it, or got no connection for it. */
export interface AdoptedRequest {
  /** The target, which counts the request as in flight. */
  readonly target: Target
  /** undefined = it got no connection. */
  readonly connection: UpstreamConnection | undefined
  /** Its body, if it is still to be sent; undefined = it was sent, or there is none. */
  readonly body: Buffer | undefined
  /** Whether the head of its response has arrived. */
  readonly isAnswered: boolean
}
