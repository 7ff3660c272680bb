import { createSecureContext } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import { type TlsVerification, trustSystemAuthorities } from '#platform/certificate-authorities.ts'
import { type Clock, monotonicClock } from '#platform/clock.ts'
import { createHttp1Opener, type UpstreamProtocol } from '../client/dial.ts'
import { createHttp2Opener } from '../client/http2/opener.ts'
import { type Balancing, type ChooseTarget, createBalancer, preferBound } from './balancer.ts'
import { Call, type CallOptions } from './call.ts'
import { type HealthOptions, TargetHealth } from './health.ts'
import { openHealthChecks } from './health-checks.ts'
import { Pool } from './pool/pool.ts'
import type { CallEvents, Target, UpstreamRequest } from './target.ts'
import type { UpstreamHeaders } from './upstream-headers.ts'

export interface UpstreamConfig {
  readonly name: string
  readonly targets: readonly { readonly url: URL; readonly weight: number }[]
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
  readonly host: 'client' | 'target'
  readonly tls: TlsVerification
}

/** The health of a target changed. */
export interface HealthChange {
  readonly upstream: string
  /** Its origin. */
  readonly target: string
  readonly isHealthy: boolean
  /** For the log. */
  readonly reason: string
}

export interface UpstreamOptions {
  onHealthChange(change: HealthChange): void
  /** The upstream that this one replaces: a target in both, with equal health options, keeps its health. */
  readonly previous?: Upstream | undefined
  /** Default: performance.now(). */
  readonly clock?: Clock
}

/** A named backend: it chooses a target for each request. */
export interface Upstream {
  readonly config: UpstreamConfig
  readonly name: string
  readonly responseTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly headers: UpstreamHeaders | undefined
  /** Which Host header the backend gets. */
  readonly host: 'client' | 'target'
  readonly targets: readonly Target[]
  readonly chooseTarget: ChooseTarget
  /** Creates a call; once it is started, `events` are called. */
  createCall(request: UpstreamRequest, events: CallEvents): Call
  close(): void
}

export function openUpstream(config: UpstreamConfig, options: UpstreamOptions): Upstream {
  const { name, responseTimeoutMs, headers, host, health, retryAttempts, idleTimeoutMs } = config
  const targets = openTargets(config, options)
  const [first, ...others] = targets
  if (!first) throw new Error(`the upstream ${name} has no target`)
  const chooseTarget = preferBound(targets, createBalancer(config.balancing, [first, ...others]))
  const callOptions: CallOptions = { chooseTarget, retryAttempts }
  const stopChecks = health.active && openHealthChecks(distinctByOrigin(targets), health.active, headers)

  return {
    config,
    name,
    responseTimeoutMs,
    idleTimeoutMs,
    headers,
    host,
    targets,
    chooseTarget,
    createCall: (request, events) => new Call(request, events, callOptions),
    close: () => {
      stopChecks?.()
      for (const { pool } of targets) pool.close()
    },
  }
}

function openTargets(config: UpstreamConfig, options: UpstreamOptions): readonly Target[] {
  const { clock } = options
  const { connectTimeoutMs, connectionsMax, targets, protocol } = config
  const usesTls = targets.some(({ url }) => url.protocol === 'https:')
  const { ca, verify } = config.tls
  if (usesTls && ca === undefined) trustSystemAuthorities()
  // Created once: loading certificates for every connection would cost more than the handshake.
  const context = usesTls ? createSecureContext(ca === undefined ? {} : { ca }) : undefined
  // A target that is listed twice is still one server.
  const healths = new Map(targets.map(({ url }) => [url.origin, createHealth(url.origin, config, options)]))
  return targets.map(({ url, weight }) => {
    const tls = { verify, context, session: undefined }
    const dialOptions = { url, connectTimeoutMs, tls, protocol }
    const opener = protocol === 'http2' ? createHttp2Opener(dialOptions) : createHttp1Opener(dialOptions)
    const pool = new Pool({ opener, connectTimeoutMs, connectionsMax, ...(clock && { clock }) })
    const health = healths.get(url.origin)
    return { authority: url.host, origin: url.origin, weight, pool, health, inFlight: 0 }
  })
}

function distinctByOrigin(targets: readonly Target[]): readonly Target[] {
  return [...new Map(targets.map((target) => [target.origin, target])).values()]
}

function createHealth(origin: string, { name, health }: UpstreamConfig, options: UpstreamOptions) {
  if (!health.active && !health.passive) return undefined
  const { previous, onHealthChange, clock = monotonicClock } = options
  // With other health options the previous state does not apply.
  const hasSameHealthOptions = isDeepStrictEqual(previous?.config.health, health)
  const previousTarget = hasSameHealthOptions
    ? previous?.targets.find((target) => target.origin === origin)
    : undefined
  if (previousTarget?.health) return previousTarget.health
  return new TargetHealth({
    ...health,
    clock,
    onChange: (isEjected, reason) =>
      onHealthChange({ upstream: name, target: origin, isHealthy: !isEjected, reason }),
  })
}
