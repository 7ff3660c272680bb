import type { TlsVerification } from '#platform/certificate-authorities.ts'
import type { UpstreamProtocol } from '../outgoing/dial.ts'
import type { Balancing } from './balancer.ts'
import type { HealthOptions } from './health.ts'
import type { UpstreamHeaders } from './upstream-headers.ts'

export interface UpstreamConfig {
  readonly name: string
  readonly targets: readonly { readonly url: URL; readonly weight: number }[]
  /** Whether each address of a host name is a target of its own. Default: the first that takes a connection is used. */
  readonly resolve?: 'first' | 'all'
  readonly balancing: Balancing
  readonly health: HealthOptions
  readonly connectTimeoutMs: number
  readonly responseTimeoutMs: number
  readonly idleTimeoutMs: number
  /** How many other targets are tried after a failure. */
  readonly retryAttempts: number
  readonly connectionsMax: number
  readonly protocol: UpstreamProtocol
  /** What requests and health checks get besides the client's fields, or instead of them; undefined = nothing. */
  readonly headers: UpstreamHeaders | undefined
  /** Which Host header the backend receives. */
  readonly host: 'client' | 'target'
  readonly tls: UpstreamTls
}

interface UpstreamTls extends TlsVerification {
  /** What targets are asked for (SNI), and what their certificates must name; undefined = the host of each. */
  readonly serverName?: string | undefined
  /** The client certificate and its key, in PEM; undefined = none. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
}
