import { resolveAppRoute } from '#config/load-app-config.ts'
import type { RouteOptions } from '#gateway/routes/compile.ts'

/** A route that has nothing but what a config must say: the rest are the defaults of the schema. */
export const defaultOptions: RouteOptions = resolveAppRoute(
  {
    route: { name: 'it', path: '/', auth: 'any' },
    upstream: { targets: [{ url: 'http://127.0.0.1:3000' }] },
  },
  'a test',
).route
