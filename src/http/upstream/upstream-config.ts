import type { TlsVerification } from '#platform/certificate-authorities.ts'
import { foldHeaderName } from '#platform/text.ts'
import type { UpstreamProtocol } from '../outgoing/dial.ts'
import type { Balancing } from './balancer.ts'
import type { HealthOptions } from './health.ts'

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
  /** The name that is sent to targets (SNI) and that their certificates must have; undefined = the host of each. */
  readonly serverName?: string | undefined
  /** The client certificate and its key, in PEM; undefined = none. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

/** A field that every request to an upstream gets. */
interface SetHeader {
  readonly name: string
  /** Visible ASCII, with spaces and tabs only inside; at most 8 KiB. */
  readonly value: string
  /** Whether the value is never shown. */
  readonly isSecret: boolean
}

/**
 * The fields that replace those of the client's request. Names are folded (foldHeaderName). Plain data: two configs
 * with the same fields have deeply equal values.
 */
export interface UpstreamHeaders {
  /** The fields to set, as header lines. */
  readonly lines: string
  /** Names of the fields that are set or removed: the client's are dropped. */
  readonly replacedNames: ReadonlySet<string>
  readonly secretNames: ReadonlySet<string>
}

/** @returns undefined if nothing is set or removed */
export function createUpstreamHeaders(
  set: readonly SetHeader[],
  removedNames: readonly string[],
): UpstreamHeaders | undefined {
  if (set.length === 0 && removedNames.length === 0) return undefined
  const secrets = set.filter(({ isSecret }) => isSecret)
  return {
    lines: set.map(({ name, value }) => `${name}: ${value}\r\n`).join(''),
    replacedNames: new Set([...set.map(({ name }) => name), ...removedNames].map(foldHeaderName)),
    secretNames: new Set(secrets.map(({ name }) => foldHeaderName(name))),
  }
}
