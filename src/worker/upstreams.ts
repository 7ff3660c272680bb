import { isDeepStrictEqual } from 'node:util'
import type { UpstreamConfig } from '../config/config.ts'
import type { Log } from '../log.ts'
import type { TargetState } from '../metrics/metrics.ts'
import { type HealthChange, openUpstream, type Upstream } from '../upstream/upstream.ts'

/** The upstreams of a config, open. */
export interface OpenUpstreams {
  readonly byName: ReadonlyMap<string, Upstream>
}

export const noUpstreams: OpenUpstreams = { byName: new Map() }

/** Opens the upstreams of a config; one that is as it was before is taken over with its connections. */
export function openUpstreams(
  configs: readonly UpstreamConfig[],
  before: OpenUpstreams,
  log: Log,
): OpenUpstreams {
  const byName = new Map(
    configs.map((config) => {
      const known = before.byName.get(config.name)
      const isSame = isDeepStrictEqual(known?.terms, config)
      return [config.name, known && isSame ? known : openUpstream(config, { before: known, onHealthChange })]
    }),
  )

  function onHealthChange({ isHealthy, ...change }: HealthChange): void {
    if (isHealthy) log.info(change, 'a target is back')
    else log.warn(change, 'a target is taken out')
  }

  return { byName }
}

/** How every target is now. */
export function healthOfTargets({ byName }: OpenUpstreams): readonly TargetState[] {
  return [...byName.values()].flatMap(({ name, targets }) =>
    targets.map(({ origin, health }) => ({ upstream: name, target: origin, isHealthy: !health?.isOut })),
  )
}

/** Closes what is not among those that stay. Requests under way still end well. */
export function closeUpstreams({ byName }: OpenUpstreams, staying: OpenUpstreams): void {
  for (const [name, upstream] of byName) {
    if (staying.byName.get(name) !== upstream) upstream.close()
  }
}
