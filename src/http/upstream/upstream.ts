import { isDeepStrictEqual } from 'node:util'
import type { Log } from '#platform/log/log.ts'
import type { Keys } from '#platform/secrets/sealing.ts'
import { type ChooseTarget, createBalancer, preferBound } from './balancer.ts'
import { Call, type CallOptions } from './call.ts'
import { openHealthChecks } from './health-checks.ts'
import type { Target } from './target.ts'
import { createTargetIds, type TargetIds } from './target-ids.ts'
import { type AddressChange, openTargetSet, type TargetOpenerOptions } from './target-set.ts'
import type { UpstreamConfig } from './upstream-config.ts'
import type { CallEvents, UpstreamRequest } from './upstream-request.ts'

export interface UpstreamOptions extends TargetOpenerOptions {
  /** Called only with `resolve: all`. */
  onAddressChange?(change: AddressChange): void
  /** The upstream that this one replaces: a target in both, with equal health options, keeps its health. */
  readonly previous?: Upstream | undefined
  /** Needed where balancing is `sticky`: keys that all processes share. */
  readonly targetKeys?: () => Keys
}

/** A named backend: it chooses a target for each request. */
export interface Upstream
  extends Pick<UpstreamConfig, 'name' | 'responseTimeoutMs' | 'idleTimeoutMs' | 'headers' | 'host'> {
  readonly config: UpstreamConfig
  /** Whether it adds nothing to a request: it has no fields, base path or cookie of its own. */
  readonly addsNothing: boolean
  /** The base path that all its targets share; empty = they have none, or different ones. */
  readonly basePath: string
  /** Those of now: with `resolve: all` they change. No getter, with which V8 would look up every member by its name. */
  targets(): readonly Target[]
  /** undefined = clients name no target. */
  readonly targetIds: TargetIds | undefined
  readonly chooseTarget: ChooseTarget
  /** Creates a call; once it is started, `events` are called. */
  createCall(request: UpstreamRequest, events: CallEvents): Call
  close(): void
}

export function openUpstream(config: UpstreamConfig, options: UpstreamOptions): Upstream {
  const { name, responseTimeoutMs, headers, host, health, retryAttempts, idleTimeoutMs } = config
  const { previous, onHealthChange, onAddressChange = () => {}, monotonic } = options
  const targetIds = config.balancing === 'sticky' ? targetIdsOf(name, options) : undefined
  const checks = health.active && openHealthChecks(health.active, headers)
  const set = openTargetSet(config, { previous, onHealthChange, onAddressChange, onTargets: use, monotonic })
  let current = chooserFor(set.targets)
  checks?.follow(set.settled)
  const chooseTarget: ChooseTarget =
    config.resolve === 'all' ? (request, tried) => current(request, tried) : current
  const callOptions: CallOptions = { chooseTarget, retryAttempts }

  function use(targets: readonly Target[]): void {
    current = chooserFor(targets)
    checks?.follow(set.settled)
  }

  function chooserFor(targets: readonly Target[]): ChooseTarget {
    const [first, ...others] = targets
    if (!first) throw new Error(`the upstream ${name} has no target`)
    return preferBound(targets, createBalancer(config.balancing, [first, ...others], targetIds))
  }

  const [basePath = '', ...otherPaths] = new Set(set.targets.map((target) => target.basePath))
  return {
    config,
    name,
    responseTimeoutMs,
    idleTimeoutMs,
    headers,
    host,
    addsNothing:
      headers === undefined && targetIds === undefined && basePath === '' && otherPaths.length === 0,
    basePath: otherPaths.length === 0 ? basePath : '',
    targets: () => set.targets,
    targetIds,
    chooseTarget,
    createCall: (request, events) => new Call(request, events, callOptions),
    close: () => {
      checks?.close()
      set.close()
    },
  }
}

function targetIdsOf(name: string, { targetKeys }: UpstreamOptions): TargetIds {
  if (targetKeys === undefined) throw new Error(`no keys for the IDs of targets of ${name}`)
  return createTargetIds(targetKeys, name)
}

/** Upstreams by name. */
export type Upstreams = ReadonlyMap<string, Upstream>

interface UpstreamsOptions extends Required<Pick<UpstreamOptions, 'targetKeys'>> {
  readonly log: Log
}

/** Opens the upstreams of a config; unchanged ones are those of `previous`, with their connections. */
export function openUpstreams(
  configs: readonly UpstreamConfig[],
  previous: Upstreams | undefined,
  { log, targetKeys }: UpstreamsOptions,
): Upstreams {
  const logged = { onHealthChange: createHealthLog(log), onAddressChange: createAddressLog(log) }
  return new Map(
    configs.map((config) => {
      const known = previous?.get(config.name)
      const isSame = isDeepStrictEqual(known?.config, config)
      const upstream =
        known && isSame ? known : openUpstream(config, { ...logged, previous: known, targetKeys })
      return [config.name, upstream]
    }),
  )
}

/** Outside `openUpstreams`, where a closure would keep the previous upstreams in memory as long as a target. */
function createHealthLog(log: Log): UpstreamOptions['onHealthChange'] {
  return ({ isHealthy, ...change }) => {
    if (isHealthy) log.info(change, 'target healthy again')
    else log.warn(change, 'target ejected')
  }
}

function createAddressLog(log: Log): (change: AddressChange) => void {
  return ({ failure, ...change }) => {
    if (failure === undefined) log.info(change, 'target resolved to other addresses')
    else log.warn({ ...change, reason: failure }, 'target not resolved: its last addresses stay in use')
  }
}

/** Closes the upstreams that are not in `reused`. Requests in flight are still completed. */
export function closeUpstreams(upstreams: Upstreams, reused: Upstreams | undefined): void {
  for (const [name, upstream] of upstreams) {
    if (reused?.get(name) !== upstream) upstream.close()
  }
}
