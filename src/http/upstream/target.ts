import type { Socket } from 'node:net'
import type { MonotonicMs } from '#platform/time.ts'
import type { TargetAddress } from '../outgoing/dial.ts'
import type {
  RequestOptions,
  UpstreamConnection,
  UpstreamResponseEvents,
} from '../outgoing/upstream-connection.ts'
import type { TargetHealth } from './health.ts'
import type { PoolUser } from './pool/parties.ts'
import type { Pool } from './pool/pool.ts'

/** A backend server and the connections to it. */
export interface Target extends Pick<TargetAddress, 'authority' | 'origin' | 'basePath' | 'name'> {
  /** The name of what is configured: with `resolve: all` the targets at all its addresses have it. */
  readonly configured: string
  /** The one of its addresses that this target is at; undefined = it is not resolved to targets. */
  readonly address: string | undefined
  readonly weight: number
  readonly pool: Pool
  /** undefined = not checked: it counts as healthy. */
  readonly health: TargetHealth | undefined
  /** Requests and WebSockets in flight. */
  inFlight: number
}

export const noTargets: readonly Target[] = []

/** The parts of a target that balancing depends on. */
export interface Candidate extends Pick<Target, 'name' | 'weight' | 'inFlight'> {
  readonly health:
    | Pick<NonNullable<Target['health']>, 'isEjected' | 'isDueForTrial' | 'beginTrial'>
    | undefined
}

/**
 * Whether the target may get a request: not if the request has failed there, nor if the target is ejected. A retry
 * never goes to an ejected target, even if it is due for a trial.
 */
export function isEligible<Some extends Candidate>(target: Some, tried: readonly Some[]): boolean {
  const { health } = target
  if (tried.length > 0) return health?.isEjected !== true && !tried.includes(target)
  return health?.isEjected !== true || health.isDueForTrial()
}

/** The target is busy as long as a WebSocket to it is open. Separate from its call, which would be kept for as long. */
export function releaseOnClose(target: Target, socket: Socket): void {
  socket.once('close', () => {
    target.inFlight--
  })
}

export interface UpstreamRequest extends RequestOptions, PoolUser {
  /** Determines the target if balancing is `ipHash`. */
  readonly clientAddress: string
  /** The IDs of targets that the client names, where balancing is `sticky` (see TargetIds). */
  readonly targetIds: readonly string[]
  /** The complete head for a target, including the empty line at its end. */
  headFor(target: Target): string
}

export interface CallEvents extends UpstreamResponseEvents {
  /**
   * The head was sent to a target: the body may now follow, or continue if the request is sent again.
   */
  onSent(target: Target, now: MonotonicMs): void
}

/** A request without a body that somebody else has sent, or has got no connection for. */
export interface SentRequest {
  /** The target, where it counts as in flight. */
  readonly target: Target
  /** undefined = it got none. */
  readonly connection: UpstreamConnection | undefined
  /** Whether the head of its response has arrived. */
  readonly isAnswered: boolean
}
