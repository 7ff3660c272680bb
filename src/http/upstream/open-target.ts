import { createSecureContext, type SecureContext } from 'node:tls'
import { trustSystemAuthorities } from '#platform/certificate-authorities.ts'
import { type MonotonicClock, monotonicClock } from '#platform/time.ts'
import { createHttp1Opener } from '../outgoing/dial.ts'
import { createHttp2Opener } from '../outgoing/h2/opener.ts'
import type { TargetAddress } from '../outgoing/target-address.ts'
import { TargetHealth } from './health.ts'
import { Pool } from './pool/pool.ts'
import type { Target } from './target.ts'
import type { UpstreamConfig } from './upstream-config.ts'

/** The health of a target changed. */
export interface HealthChange {
  readonly upstream: string
  /** Its name. */
  readonly target: string
  readonly isHealthy: boolean
  /** For the log. */
  readonly reason: string
}

export interface TargetOpenerOptions {
  onHealthChange(change: HealthChange): void
  /** Default: performance.now(). */
  readonly monotonic?: MonotonicClock | undefined
}

/**
 * Opens targets of an upstream.
 * @param configured see Target
 * @param health that goes on; undefined = it begins as healthy, if it is watched
 */
export type OpenTarget = (
  address: TargetAddress,
  weight: number,
  configured: string,
  health?: TargetHealth | undefined,
) => Target

export function createTargetOpener(config: UpstreamConfig, options: TargetOpenerOptions): OpenTarget {
  const { connectTimeoutMs, connectionsMax, protocol } = config
  const { verify, serverName } = config.tls
  const { monotonic } = options
  let context: SecureContext | undefined
  return function openTarget(address, weight, configured, health) {
    // Created once: loading certificates for every connection would cost more than the handshake.
    if (address.isTls) context ??= createContext(config.tls)
    const tls = { verify, context, session: undefined }
    const named = serverName === undefined ? address : { ...address, serverName }
    const dialOptions = { address: named, connectTimeoutMs, tls, protocol }
    const opener = protocol === 'http2' ? createHttp2Opener(dialOptions) : createHttp1Opener(dialOptions)
    const { authority, origin, basePath, name } = address
    return {
      authority,
      origin,
      basePath,
      name,
      configured,
      address: name !== configured && 'host' in address.endpoint ? address.endpoint.host : undefined,
      weight,
      pool: new Pool({ opener, connectTimeoutMs, connectionsMax, ...(monotonic && { monotonic }) }),
      health: health ?? createHealth(name, config, options),
      inFlight: 0,
    }
  }
}

function createContext({ ca, cert, key }: UpstreamConfig['tls']): SecureContext {
  if (ca === undefined) trustSystemAuthorities()
  return createSecureContext({ ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert, key }) })
}

function createHealth(
  target: string,
  { name, health }: UpstreamConfig,
  { onHealthChange, monotonic = monotonicClock }: TargetOpenerOptions,
): TargetHealth | undefined {
  if (!health.active && !health.passive) return undefined
  return new TargetHealth({
    ...health,
    monotonic,
    onChange: (isEjected, reason) =>
      onHealthChange({ upstream: name, target, isHealthy: !isEjected, reason }),
  })
}
