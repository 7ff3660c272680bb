import { createSecureContext } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import { trustSystemAuthorities, type Verification } from '../authorities.ts'
import { type Balancing, createChoice } from './balance.ts'
import { Call, type CallEvents, type CallTerms, type UpstreamRequest } from './call.ts'
import { openChecks } from './checks.ts'
import { type HealthTerms, TargetHealth } from './health.ts'
import { Pool } from './pool.ts'
import type { Target } from './target.ts'

export interface UpstreamTerms {
  readonly name: string
  readonly targets: readonly { readonly url: URL; readonly weight: number }[]
  readonly balancing: Balancing
  readonly health: HealthTerms
  readonly connectTimeoutMs: number
  readonly responseTimeoutMs: number
  readonly idleTimeoutMs: number
  /** Other targets tried after a failure. */
  readonly retryAttempts: number
  readonly connectionsMax: number
  readonly host: 'client' | 'target'
  readonly tls: Verification
}

/** A target was taken out, or is back. */
export interface HealthChange {
  readonly upstream: string
  /** Its origin. */
  readonly target: string
  readonly isHealthy: boolean
  /** In words for the operator. */
  readonly reason: string
}

export interface UpstreamOptions {
  onHealthChange(change: HealthChange): void
  /** The upstream that this one replaces: a target in both, watched by the same terms, keeps its health. */
  readonly before?: Upstream | undefined
  /** Milliseconds on a monotonic clock; default: performance.now(). */
  readonly clock?: () => number
}

/** A named backend: it chooses a target for each request. */
export interface Upstream {
  readonly terms: UpstreamTerms
  readonly name: string
  readonly responseTimeoutMs: number
  /** Which Host the backend sees. */
  readonly host: 'client' | 'target'
  readonly targets: readonly Target[]
  /** Creates a call; once it is started `events` are told. */
  createCall(request: UpstreamRequest, events: CallEvents): Call
  close(): void
}

export function openUpstream(terms: UpstreamTerms, options: UpstreamOptions): Upstream {
  const { name, responseTimeoutMs, host, health, retryAttempts, idleTimeoutMs } = terms
  const targets = openTargets(terms, options)
  const [first, ...others] = targets
  if (!first) throw new Error(`the upstream ${name} has no target`)
  const choose = createChoice(terms.balancing, [first, ...others])
  const callTerms: CallTerms = { choose, retryAttempts, idleTimeoutMs }
  const endChecks = health.active && openChecks(eachOnce(targets), health.active)

  return {
    terms,
    name,
    responseTimeoutMs,
    host,
    targets,
    createCall: (request, events) => new Call(request, events, callTerms),
    close: () => {
      endChecks?.()
      for (const { pool } of targets) pool.close()
    },
  }
}

function openTargets(terms: UpstreamTerms, options: UpstreamOptions): readonly Target[] {
  const { connectTimeoutMs, connectionsMax, targets } = terms
  const usesTls = targets.some(({ url }) => url.protocol === 'https:')
  const { ca, verify } = terms.tls
  if (usesTls && ca === undefined) trustSystemAuthorities()
  // Made once: loading certificates for every connection would cost more than the handshake.
  const context = usesTls ? createSecureContext(ca === undefined ? {} : { ca }) : undefined
  // A target that is listed twice is still one server.
  const healths = new Map(targets.map(({ url }) => [url.origin, healthOf(url.origin, terms, options)]))
  return targets.map(({ url, weight }) => {
    const tls = { verify, context, session: undefined }
    const pool = new Pool({ url, connectTimeoutMs, connectionsMax, tls })
    const health = healths.get(url.origin)
    return { authority: url.host, origin: url.origin, weight, pool, health, underWay: 0 }
  })
}

function eachOnce(targets: readonly Target[]): readonly Target[] {
  return [...new Map(targets.map((target) => [target.origin, target])).values()]
}

function healthOf(origin: string, { name, health }: UpstreamTerms, options: UpstreamOptions) {
  if (!health.active && !health.passive) return undefined
  const { before, onHealthChange, clock = () => performance.now() } = options
  // With other terms the verdict may be another, so that the old one does not count.
  const isWatchedAsBefore = isDeepStrictEqual(before?.terms.health, health)
  const known = isWatchedAsBefore ? before?.targets.find((target) => target.origin === origin) : undefined
  if (known?.health) return known.health
  return new TargetHealth({
    ...health,
    clock,
    onChange: (isOut, reason) =>
      onHealthChange({ upstream: name, target: origin, isHealthy: !isOut, reason }),
  })
}
