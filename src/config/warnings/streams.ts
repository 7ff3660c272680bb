import type { Warning } from '../problem.ts'
import type { ConfigTree } from '../schema/schema.ts'

/** Upstreams with no more `connections` than a client may have requests open on one connection of HTTP/2. */
export function findNarrowUpstreams({
  limits,
  listen,
  upstreams,
}: Pick<ConfigTree, 'limits' | 'listen' | 'upstreams'>): Warning[] {
  if (!listen.http2) return []
  return Object.entries(upstreams)
    .filter(([, { connections }]) => limits.streams >= connections)
    .map(([name, { connections }]) => ({
      path: ['upstreams', name, 'connections'],
      message: `one client connection of HTTP/2 may have ${limits.streams} requests open (limits.streams), and this upstream takes ${connections} at a time: the others wait, and may get 503`,
      hint: 'set limits.streams below connections',
    }))
}
