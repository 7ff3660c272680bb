import type { TlsVerification } from '#platform/certificate-authorities.ts'
import type { Clock } from '#platform/clock.ts'
import type { UpstreamProtocol } from '../client/dial.ts'
import { readTargetAddress } from '../client/target-address.ts'
import { type Balancing, type ChooseTarget, createBalancer, preferBound } from './balancer.ts'
import { Call, type CallOptions } from './call.ts'
import type { HealthOptions } from './health.ts'
import { openHealthChecks } from './health-checks.ts'
import { createTargetOpener } from './open-target.ts'
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
  readonly tls: UpstreamTls
}

interface UpstreamTls extends TlsVerification {
  /** What targets are asked for (SNI), and what their certificates must name; undefined = the host of each. */
  readonly serverName?: string | undefined
  /** The client certificate and its key, in PEM; undefined = none. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

/** The health of a target changed. */
export interface HealthChange {
  readonly upstream: string
  /** Its name. */
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
  /** Whether its requests need nothing that only the general path does: no fields or paths of its own. */
  readonly isOrdinary: boolean
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
  const stopChecks = health.active && openHealthChecks(distinctByName(targets), health.active, headers)

  return {
    config,
    name,
    responseTimeoutMs,
    idleTimeoutMs,
    headers,
    host,
    isOrdinary: headers === undefined && targets.every(({ basePath }) => basePath === ''),
    targets,
    chooseTarget,
    createCall: (request, events) => new Call(request, events, callOptions),
    close: () => {
      stopChecks?.()
      for (const { pool } of targets) pool.close()
    },
  }
}

/** A target that is listed twice is still one server. */
function openTargets(config: UpstreamConfig, options: UpstreamOptions): readonly Target[] {
  const openTarget = createTargetOpener(config, options)
  const healths = new Map<string, Target['health']>()
  return config.targets.map(({ url, weight }) => {
    const target = openTarget(readTargetAddress(url), weight)
    const health = healths.has(target.name) ? healths.get(target.name) : target.health
    healths.set(target.name, health)
    return { ...target, health }
  })
}

function distinctByName(targets: readonly Target[]): readonly Target[] {
  return [...new Map(targets.map((target) => [target.name, target])).values()]
}
