import { isDeepStrictEqual } from 'node:util'
import type { UpstreamConfig } from '../config/config.ts'
import { openUpstream, type Upstream } from '../upstream/upstream.ts'

/** The upstreams of a config, open. */
export interface OpenUpstreams {
  readonly byName: ReadonlyMap<string, Upstream>
  readonly configs: readonly UpstreamConfig[]
}

export const noUpstreams: OpenUpstreams = { byName: new Map(), configs: [] }

/** Opens the upstreams of a config; one that is as it was before is taken over with its connections. */
export function openUpstreams(configs: readonly UpstreamConfig[], before: OpenUpstreams): OpenUpstreams {
  const byName = new Map(
    configs.map((config) => {
      const known = before.configs.find(({ name }) => name === config.name)
      const kept = isDeepStrictEqual(known, config) ? before.byName.get(config.name) : undefined
      return [config.name, kept ?? openUpstream(config)]
    }),
  )
  return { byName, configs }
}

/** Closes what is not among those that stay. Requests under way still end well. */
export function closeUpstreams({ byName }: OpenUpstreams, staying: OpenUpstreams): void {
  for (const [name, upstream] of byName) {
    if (staying.byName.get(name) !== upstream) upstream.close()
  }
}
