import type { TargetHealth } from './health.ts'
import type { Pool } from './pool.ts'

/** One backend server and the connections to it. */
export interface Target {
  /** As in a Host header: `10.0.0.11:3000`. */
  readonly authority: string
  /** As in a Location header: `http://10.0.0.11:3000`. */
  readonly origin: string
  readonly weight: number
  readonly pool: Pool
  /** undefined = its health is not watched: it counts as healthy. */
  readonly health: TargetHealth | undefined
  /** Requests and WebSockets under way to it. */
  inFlight: number
}
