import { knownRoles, similarRole } from '#accounts/account-input.ts'
import { heldBytesMax } from '#gateway/forward/held-bodies.ts'
import { compileRoutes } from '#gateway/routes/compile.ts'
import { createRouteTable } from '#gateway/routes/table.ts'
import { authorizationCarriers } from '#identity/carriers.ts'
import type { Config } from '../config.ts'
import type { Warning } from '../problem.ts'
import type { ConfigTree } from '../schema/schema.ts'

export function findNoRoutes({ routes }: Pick<ConfigTree, 'routes'>): Warning[] {
  const message = "is empty: every request except to the gateway's own paths gets 404"
  return routes.length === 0 ? [{ path: ['routes'], message }] : []
}

export function findWebSocketsWithoutGet({ routes }: Pick<ConfigTree, 'routes'>): Warning[] {
  return [...routes.entries()]
    .filter(([, { websocket, methods }]) => websocket && methods !== undefined && !methods.includes('GET'))
    .map(([index, { name }]) => ({
      path: ['routes', index, 'websocket'],
      message: `route "${name}" does not accept GET, which WebSockets need`,
      hint: 'add GET to its methods',
    }))
}

/** Roles of routes that differ from another role only in case: `admin` beside the gateway's own `Admin`. */
export function findSimilarRoles({ routes }: Pick<ConfigTree, 'routes'>): Warning[] {
  const known = knownRoles(routes)
  const ownRoles = knownRoles([])
  return [...routes.entries()].flatMap(([route, { name, roles = [] }]) =>
    [...roles.entries()].flatMap(([index, role]): Warning[] => {
      if (ownRoles.includes(role)) return []
      const others = known.filter((other) => other !== role)
      const similar = similarRole(role, others)
      if (similar === undefined) return []
      const message = `route "${name}" has the role "${role}", which is not "${similar}": roles are case-sensitive`
      return [{ path: ['routes', route, 'roles', index], message }]
    }),
  )
}

/** Scopes of routes that differ from another scope only in case, which is hardly ever intended. */
export function findSimilarScopes({ routes }: Pick<ConfigTree, 'routes'>): Warning[] {
  const known = new Map<string, string>()
  return [...routes.entries()].flatMap(([route, { name, scopes = [] }]) =>
    [...scopes.entries()].flatMap(([index, scope]): Warning[] => {
      const first = known.get(scope.toLowerCase())
      if (first === undefined) known.set(scope.toLowerCase(), scope)
      if (first === undefined || first === scope) return []
      const message = `route "${name}" has the scope "${scope}", which is not "${first}": scopes are case-sensitive`
      return [{ path: ['routes', route, 'scopes', index], message }]
    }),
  )
}

/** Routes whose paths a backend may treat as the same, so that the gateway would reject every request to them. */
export function findAmbiguousPaths({ routes, upstreams }: Pick<Config, 'routes' | 'upstreams'>): Warning[] {
  const compiled = compileRoutes(routes, new Map(upstreams.map((upstream) => [upstream.name, upstream])))
  const { groups, ambiguityIndex } = createRouteTable(compiled)
  const indexOf = new Map(compiled.map((route, index) => [route, index]))
  return groups.flatMap((place) => {
    const [other] = ambiguityIndex.findEquivalents(place)
    if (other === undefined) return []
    return place.routes.map((route) => ({
      path: ['routes', indexOf.get(route) ?? 0, 'path'],
      message: `route "${route.name}" is never used: its path ${place.prefix} and ${other.prefix} of route "${other.routes[0]?.name}" are ambiguous to a backend that ignores case or decodes escapes, so requests to them are refused`,
      hint: 'use one path, or set caseSensitive: true if only case differs and the backend is case-sensitive',
    }))
  })
}

/**
 * Routes on which the gateway takes an Authorization field for its own that is probably meant for the backend: a public
 * route drops from it what looks like a key, and a forwarding one passes the callers' credentials to the backend.
 */
export function findTakenAuthorization({ routes, keys }: Pick<ConfigTree, 'routes' | 'keys'>): Warning[] {
  const carriers = authorizationCarriers.filter((carrier) => keys.accept.includes(carrier))
  return [...routes.entries()].flatMap(([index, route]): Warning[] => {
    const { name, auth, authorization, forwardCredentials } = route
    if (authorization === 'backend') return []
    if (auth !== 'none' && forwardCredentials) {
      const message = `route "${name}" gives the backend the credentials of its callers. If only Authorization is for the backend, set authorization: backend instead: callers then send their key in another header`
      return [{ path: ['routes', index, 'forwardCredentials'], message }]
    }
    if (auth !== 'none' || forwardCredentials || carriers.length === 0) return []
    const message = `route "${name}" is public, but an Authorization that looks like a key is dropped, as keys.accept has ${carriers.join(' and ')}. If it is for the backend, set authorization: backend`
    return [{ path: ['routes', index, 'auth'], message }]
  })
}

/** Prefixes that are replaced in vain, or for backends whose answers name paths. */
export function findPrefixProblems({ routes }: Pick<ConfigTree, 'routes'>): Warning[] {
  return [...routes.entries()]
    .filter(([, { stripPrefix, rewrite }]) => stripPrefix || rewrite !== undefined)
    .flatMap(([index, { name, path, methods, stripPrefix, rewrite }]): Warning[] => {
      const at = ['routes', index, stripPrefix ? 'stripPrefix' : 'rewrite']
      if (stripPrefix && path === '/')
        return [{ path: at, message: `route "${name}" has no prefix to strip`, hint: 'leave it out' }]
      if (rewrite?.replace(/\/$/, '') === path.replace(/\/$/, ''))
        return [{ path: at, message: `route "${name}" replaces ${path} by itself`, hint: 'leave it out' }]
      if (methods?.includes('PROPFIND') !== true) return []
      const message = `WebDAV listings on route "${name}" have the paths of the backend, without ${path}, which clients cannot find`
      return [{ path: at, message, hint: `let the backend serve ${path} itself` }]
    })
}

/** A Strict-Transport-Security that comes over plain http: browsers ignore it there (RFC 6797 8.1). */
export function findUnheardHsts({ routes, publicUrl }: Pick<ConfigTree, 'routes' | 'publicUrl'>): Warning[] {
  if (URL.parse(publicUrl)?.protocol !== 'http:') return []
  return [...routes.entries()].flatMap(([index, { name, responseHeaders }]) =>
    Object.keys(responseHeaders.set)
      .filter((field) => field.toLowerCase() === 'strict-transport-security')
      .map((field) => ({
        path: ['routes', index, 'responseHeaders', 'set', field],
        message: `route "${name}" sets it, but publicUrl is http, where browsers ignore it`,
        hint: 'set the https URL as publicUrl',
      })),
  )
}

/** Routes whose responses say a cost that is counted for nobody, or never seen. */
export function findUncountedCosts({ routes }: Pick<ConfigTree, 'routes'>): Warning[] {
  return [...routes.entries()].flatMap(([index, { name, auth, upstream, costHeader, costField }]) => {
    const option = costField === undefined ? 'costHeader' : 'costField'
    if (costField === undefined && costHeader === undefined) return []
    const path = ['routes', index, option]
    const hint = 'leave it out'
    if (upstream === undefined) {
      const message = `route "${name}" has no upstream, so its responses are not seen: a request is one unit`
      return [{ path, message, hint }]
    }
    // A header is at least removed.
    if (auth !== 'none' || costField === undefined) return []
    return [{ path, message: `route "${name}" is public, so its units are counted for nobody`, hint }]
  })
}

/** Routes whose larger bodies are forwarded without asking for the usage of their streams. */
export function findUnaskedBodies({ routes }: Pick<Config, 'routes'>): Warning[] {
  return [...routes.entries()]
    .filter(([, { includeUsage, bodyBytesMax }]) => includeUsage && bodyBytesMax > heldBytesMax)
    .map(([index, { name }]) => ({
      path: ['routes', index, 'maxBody'],
      message: `route "${name}" accepts bodies that are too large for includeUsage: their streams are not asked for their usage, and count as one unit`,
      hint: `set at most ${heldBytesMax / 1_048_576}MiB`,
    }))
}

/** Paths that look like a pattern, by characters that are allowed in a path. */
export function findPatterns({ routes }: Pick<ConfigTree, 'routes'>): Warning[] {
  return [...routes.entries()]
    .filter(([, { path }]) => /[()$+]/.test(path))
    .map(([index, { name, path }]) => ({
      path: ['routes', index, 'path'],
      message: `route "${name}" matches only requests that begin with ${path}: paths are literal prefixes, and ( ) $ + stand for themselves`,
    }))
}
