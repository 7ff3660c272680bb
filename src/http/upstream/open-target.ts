import { createSecureContext, type SecureContext } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import { trustSystemAuthorities } from '#platform/certificate-authorities.ts'
import { monotonicClock } from '#platform/clock.ts'
import { createHttp1Opener } from '../client/dial.ts'
import { createHttp2Opener } from '../client/http2/opener.ts'
import type { TargetAddress } from '../client/target-address.ts'
import { TargetHealth } from './health.ts'
import { Pool } from './pool/pool.ts'
import type { Target } from './target.ts'
import type { UpstreamConfig, UpstreamOptions } from './upstream.ts'

/** Opens targets of an upstream, by where they are. */
export type OpenTarget = (address: TargetAddress, weight: number) => Target

export function createTargetOpener(config: UpstreamConfig, options: UpstreamOptions): OpenTarget {
  const { connectTimeoutMs, connectionsMax, protocol } = config
  const { verify, serverName } = config.tls
  const { clock } = options
  let context: SecureContext | undefined
  return function openTarget(address, weight) {
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
      weight,
      pool: new Pool({ opener, connectTimeoutMs, connectionsMax, ...(clock && { clock }) }),
      health: createHealth(name, config, options),
      inFlight: 0,
    }
  }
}

function createContext({ ca, cert, key }: UpstreamConfig['tls']): SecureContext {
  if (ca === undefined) trustSystemAuthorities()
  return createSecureContext({ ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert, key }) })
}

function createHealth(target: string, { name, health }: UpstreamConfig, options: UpstreamOptions) {
  if (!health.active && !health.passive) return undefined
  const { previous, onHealthChange, clock = monotonicClock } = options
  // With other health options the previous state does not apply.
  const hasSameHealthOptions = isDeepStrictEqual(previous?.config.health, health)
  const before = hasSameHealthOptions ? previous?.targets.find((each) => each.name === target) : undefined
  if (before?.health) return before.health
  return new TargetHealth({
    ...health,
    clock,
    onChange: (isEjected, reason) =>
      onHealthChange({ upstream: name, target, isHealthy: !isEjected, reason }),
  })
}
