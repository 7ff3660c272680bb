import type { RouteOptions } from '#gateway/routes/compile.ts'
import type { ScopedRoute } from './views/frame.ts'

/** The routes that keys with scopes may call, with the scopes that each asks for. */
export function scopedRoutesOf(routes: readonly RouteOptions[]): readonly ScopedRoute[] {
  return routes.flatMap(({ scopes = [], auth, methods, host, path }) => {
    if (scopes.length === 0 || auth === 'none' || auth === 'deny') return []
    return [{ scopes, text: `${methods ? `${methods.join(', ')} ` : ''}${host ?? ''}${path}` }]
  })
}
