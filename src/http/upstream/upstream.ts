import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '#platform/clock.ts'
import type { Keys } from '#platform/secrets/sealing.ts'
import { readTargetAddress } from '../client/target-address.ts'
import { type ChooseTarget, createBalancer, preferBound } from './balancer.ts'
import { Call, type CallOptions } from './call.ts'
import { openHealthChecks } from './health-checks.ts'
import { createTargetOpener, type HealthChange } from './open-target.ts'
import type { CallEvents, Target, UpstreamRequest } from './target.ts'
import { createTargetIds, type TargetIds } from './target-ids.ts'
import type { UpstreamConfig } from './upstream-config.ts'
import type { UpstreamHeaders } from './upstream-headers.ts'

export interface UpstreamOptions {
  onHealthChange(change: HealthChange): void
  /** The upstream that this one replaces: a target in both, with equal health options, keeps its health. */
  readonly previous?: Upstream | undefined
  /** Needed where balancing is `sticky`: keys that all processes have. */
  readonly targetKeys?: () => Keys
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
  /** Which Host header the backend receives. */
  readonly host: 'client' | 'target'
  /** Whether its requests need nothing that only the general path does: no fields, paths or cookies of its own. */
  readonly isOrdinary: boolean
  readonly targets: readonly Target[]
  /** undefined = clients name no target. */
  readonly targetIds: TargetIds | undefined
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
  const targetIds = config.balancing === 'sticky' ? createConfiguredIds(name, options) : undefined
  const balancer = createBalancer(config.balancing, [first, ...others], targetIds)
  const chooseTarget = preferBound(targets, balancer)
  const callOptions: CallOptions = { chooseTarget, retryAttempts }
  const stopChecks = health.active && openHealthChecks(distinctByName(targets), health.active, headers)

  return {
    config,
    name,
    responseTimeoutMs,
    idleTimeoutMs,
    headers,
    host,
    isOrdinary:
      headers === undefined && targetIds === undefined && targets.every(({ basePath }) => basePath === ''),
    targets,
    targetIds,
    chooseTarget,
    createCall: (request, events) => new Call(request, events, callOptions),
    close: () => {
      stopChecks?.()
      for (const { pool } of targets) pool.close()
    },
  }
}

function createConfiguredIds(name: string, { targetKeys }: UpstreamOptions): TargetIds {
  if (targetKeys === undefined) throw new Error(`no keys for the IDs of targets of ${name}`)
  return createTargetIds(targetKeys, name)
}

function openTargets(config: UpstreamConfig, options: UpstreamOptions): readonly Target[] {
  const { previous, onHealthChange, clock } = options
  // With other health options the previous state does not apply.
  const before = isDeepStrictEqual(previous?.config.health, config.health) ? (previous?.targets ?? []) : []
  // A target that is listed twice is still one server.
  const healths = new Map(before.map(({ name, health }) => [name, health]))
  const openTarget = createTargetOpener(config, { clock, onHealthChange })
  return config.targets.map(({ url, weight }) => {
    const address = readTargetAddress(url)
    const target = openTarget(address, weight, healths.get(address.name))
    healths.set(target.name, target.health)
    return target
  })
}

function distinctByName(targets: readonly Target[]): readonly Target[] {
  return [...new Map(targets.map((target) => [target.name, target])).values()]
}
