import type { Socket } from 'node:net'
import type { TargetAddress } from '../outgoing/target-address.ts'
import type { TargetHealth } from './health.ts'
import type { Pool } from './pool/pool.ts'

/** A backend server and the connections to it. */
export interface Target extends Pick<TargetAddress, 'authority' | 'origin' | 'basePath' | 'name'> {
  /** The name as configured: with `resolve: all`, the targets at all addresses of a host share it. */
  readonly configured: string
  /** The address that this target stands for; undefined = it stands for its host, whatever the addresses. */
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

/** Counts a WebSocket as in flight until it closes. Outside Call, which the listener would keep in memory. */
export function releaseOnClose(target: Target, socket: Socket): void {
  socket.once('close', () => {
    target.inFlight--
  })
}
