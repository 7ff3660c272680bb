import { app } from './app.ts'
import { authentication } from './authentication.ts'
import { down, up } from './bodies.ts'
import { manyConnections, newConnections, tls, tlsNewConnections } from './connections.ts'
import { decide } from './decide.ts'
import { events } from './events.ts'
import { foreignTokens } from './foreign-tokens.ts'
import { freshHeads, freshHeadsTls, freshPost } from './fresh-heads.ts'
import { grpc, http2, http2Tls } from './http2.ts'
import { http2Down, http2Up } from './http2-bodies.ts'
import { keyCosts } from './key-costs.ts'
import { latency } from './latency.ts'
import { memory } from './memory.ts'
import { observed } from './observed.ts'
import { post } from './post.ts'
import { routes } from './routes.ts'
import type { Scenario } from './scenario.ts'
import { smallGet } from './small-get.ts'
import { start } from './start.ts'
import { issue, refresh } from './tokens.ts'
import { webSockets } from './web-sockets.ts'
import { workers } from './workers.ts'

/** Every scenario, by the name it has on the command line and in the results. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  'fresh-heads': freshHeads,
  'fresh-heads-tls': freshHeadsTls,
  'fresh-post': freshPost,
  'small-get': smallGet,
  authentication,
  'key-costs': keyCosts,
  'foreign-tokens': foreignTokens,
  workers,
  'new-connections': newConnections,
  'many-connections': manyConnections,
  tls,
  'tls-new-connections': tlsNewConnections,
  http2,
  'http2-tls': http2Tls,
  grpc,
  routes,
  observed,
  decide,
  app,
  post,
  latency,
  down,
  up,
  'http2-down': http2Down,
  'http2-up': http2Up,
  events,
  'web-sockets': webSockets,
  start,
  memory,
  issue,
  refresh,
}
