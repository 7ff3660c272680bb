import { isDeepStrictEqual } from 'node:util'
import {
  type HealthChange,
  openUpstream,
  type Upstream,
  type UpstreamConfig,
} from '#http/upstream/upstream.ts'
import type { TargetState } from '#ops/metrics/traffic-instruments.ts'
import type { Log } from '#platform/log/log.ts'

/** The upstreams of a config, open. */
export interface OpenUpstreams {
  readonly byName: ReadonlyMap<string, Upstream>
}

export const noUpstreams: OpenUpstreams = { byName: new Map() }

/** Opens the upstreams of a config; an unchanged one is reused with its connections. */
export function openUpstreams(
  configs: readonly UpstreamConfig[],
  previous: OpenUpstreams,
  log: Log,
): OpenUpstreams {
  const onHealthChange = createHealthLog(log)
  const byName = new Map(
    configs.map((config) => {
      const known = previous.byName.get(config.name)
      const isSame = isDeepStrictEqual(known?.config, config)
      return [
        config.name,
        known && isSame ? known : openUpstream(config, { previous: known, onHealthChange }),
      ]
    }),
  )
  return { byName }
}

/** Outside `openUpstreams`: a closure there would keep the previous upstreams alive for as long as a target. */
function createHealthLog(log: Log): (change: HealthChange) => void {
  return ({ isHealthy, ...change }) => {
    if (isHealthy) log.info(change, 'target healthy again')
    else log.warn(change, 'target ejected')
  }
}

/** The current health of every target. */
export function targetStates({ byName }: OpenUpstreams): readonly TargetState[] {
  return [...byName.values()].flatMap(({ name, targets }) =>
    targets.map(({ origin, health }) => ({ upstream: name, target: origin, isHealthy: !health?.isEjected })),
  )
}

/** Closes the upstreams that are not in `reused`. Requests in flight are still completed. */
export function closeUpstreams({ byName }: OpenUpstreams, reused: OpenUpstreams): void {
  for (const [name, upstream] of byName) {
    if (reused.byName.get(name) !== upstream) upstream.close()
  }
}
