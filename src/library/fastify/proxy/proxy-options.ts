import { ConfigError } from '#config/load.ts'
import { type AppRouteInput, resolveAppRoute } from '#config/load-app-config.ts'
import type { Problem } from '#config/problem.ts'
import { hasUpstream } from '#gateway/gate/route-request.ts'
import { compileRoutes } from '#gateway/routes/compile.ts'
import type { Route } from '#gateway/routes/route.ts'
import type { UpstreamConfig } from '#http/upstream/upstream-config.ts'
import type { Carriers } from '#identity/carriers.ts'
import type { RequireOptions } from '../require.ts'

/**
 * Options of a proxied prefix: those of a route and its upstream in the config file, with the same meaning and bounds.
 */
export interface ProxyOptions extends Omit<RequireOptions, 'auth'> {
  /** The backend: an `http://` or `https://` origin, without a path. */
  readonly upstream: string
  /**
   * What is forwarded: this path and everything below it, in whole segments; `/` = everything without a route of its
   * own.
   */
  readonly prefix: string
  /** `none` = credentials are not checked. Required, so that nothing is open by omission. */
  readonly auth: 'secretKey' | 'bearer' | 'any' | 'optional' | 'none'
  /** The name for rates, usage, and as `aud` of assertions; default: the prefix without its slashes, or `root`. */
  readonly name?: string
  /** Default: all but TRACE and CONNECT. GET includes HEAD. */
  readonly methods?: readonly string[]
  /** Whether the backend gets the path without the prefix; default: false. */
  readonly stripPrefix?: boolean
  /** What stands in place of the prefix for the backend; `/` is `stripPrefix: true`. */
  readonly rewrite?: string
  /** Header fields that clients get instead of the backend's. */
  readonly responseHeaders?: {
    readonly set?: Readonly<Record<string, string>>
    readonly remove?: readonly string[]
  }
  /** What the backend receives as the `Destination` of WebDAV; default: `forwarded`. */
  readonly destination?: 'forwarded' | 'public' | 'target'
  /** Whether WebSockets are forwarded; default: false. */
  readonly websocket?: boolean
  /** %2F and %5C in the path; default: `auto`. */
  readonly encodedSlash?: 'auto' | 'reject' | 'pass'
  /** Two slashes in a row in the path; default: `reject`. */
  readonly emptySegments?: 'reject' | 'pass'
  /** Whether the backend tells `/Orders` from `/orders`; default: false. */
  readonly caseSensitive?: boolean
  /** X-HTTP-Method-Override and similar fields; default: `drop`. */
  readonly methodOverride?: 'drop' | 'pass'
  /** Whether credentials reach the backend; default: false. */
  readonly forwardCredentials?: boolean
  /** A size such as `10MiB`, the default, or `unlimited`; for WebSockets, of each message. */
  readonly maxBody?: string
  /** Durations; defaults: 2s to connect, 30s for the head of a response, 60s of silence in its body. */
  readonly timeouts?: { readonly connect?: string; readonly response?: string; readonly idle?: string }
  /** Maximum number of connections to the backend; default: 128. */
  readonly connections?: number
  /** Header fields that replace the client's for the backend. */
  readonly headers?: { readonly set?: Readonly<Record<string, string>>; readonly remove?: readonly string[] }
  /** Which Host the backend sees; default: `client`. */
  readonly host?: 'client' | 'target'
  /**
   * TLS to the backend; its certificate is verified by default, with `ca` against these certificates (PEM) only, and
   * must name `serverName`, by default the host. `cert` and `key` (PEM) are the client certificate.
   */
  readonly tls?: {
    readonly verify?: boolean
    readonly ca?: SecretSource
    readonly serverName?: string
    readonly cert?: SecretSource
    readonly key?: SecretSource
  }
}

type SecretSource = { readonly file: string } | { readonly env: string }

/** Options of the upstream, as opposed to the route. */
const upstreamOptions = ['timeouts', 'connections', 'headers', 'host', 'tls'] as const
/** Options of a route in the config file that have no meaning here. */
const unsupported = [
  'path',
  'trailers',
  'costHeader',
  'costField',
  'includeUsage',
  'quotaCounts',
  'browser',
  'issuers',
] as const

/** The options in the form of sections of a config file. @throws ConfigError */
export function toRouteInput({ upstream, prefix, ...options }: ProxyOptions): AppRouteInput {
  const given: Readonly<Record<string, unknown>> = options
  const source = { kind: 'app' } as const
  const problems = unsupported
    .filter((name) => name in given)
    .map((name): Problem => ({ source, path: [name], message: 'is not supported in an app' }))
  const problem = originProblem(upstream)
  if (problem !== undefined) problems.push({ source, path: ['upstream'], message: problem })
  if (given.auth === 'deny')
    problems.push({
      source,
      path: ['auth'],
      message: 'deny is not supported in an app: do not proxy the prefix',
    })
  if (problems.length > 0) throw new ConfigError(problems, 'Fix the options of gatehouse.proxy().')
  const isOfUpstream = (name: string) => upstreamOptions.some((option) => option === name)
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  return {
    route: {
      name: nameOf(prefix),
      ...Object.fromEntries(entries.filter(([name]) => !isOfUpstream(name))),
      path: prefix,
    },
    upstream: {
      targets: [{ url: upstream }],
      ...Object.fromEntries(entries.filter(([name]) => isOfUpstream(name))),
    },
    names: { path: 'prefix', 'targets[0].url': 'upstream' },
  }
}

/** What is wrong with a target that only a config file may have. The rules of the file find whatever else is wrong. */
function originProblem(upstream: unknown): string | undefined {
  const { protocol, pathname } = URL.parse(String(upstream)) ?? {}
  if (protocol === 'unix:') return 'must be an http(s) origin: an app cannot connect to a Unix socket'
  if (!protocol?.startsWith('http') || pathname === '/') return undefined
  return 'must be an origin: no path, query or fragment; rewrite says what precedes the paths of the backend'
}

/** A name must have letters, digits, - and _ only. */
function nameOf(prefix: unknown): string {
  const name = String(prefix)
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replaceAll(/^[-_]+|(?<![-_])[-_]+$/g, '')
    .slice(0, 64)
  return name === '' ? 'root' : name
}

/** The one target of a proxied prefix. */
export interface ProxyUpstream
  extends Pick<
    UpstreamConfig,
    | 'name'
    | 'headers'
    | 'host'
    | 'tls'
    | 'connectTimeoutMs'
    | 'responseTimeoutMs'
    | 'idleTimeoutMs'
    | 'connectionsMax'
  > {
  readonly url: URL
}

export type ProxyRoute = Route<ProxyUpstream>

/** The options for TLS as Node's clients take them, without the name of the server. */
export function tlsOptionsOf({ tls: { verify, ca, cert, key } }: ProxyUpstream) {
  return {
    rejectUnauthorized: verify,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert, key }),
  }
}

/** @throws ConfigError with every problem */
export function createProxyRoute(input: AppRouteInput, carriers: Carriers): ProxyRoute {
  const { route, upstream } = resolveAppRoute(input, 'gatehouse.proxy()')
  const [target] = upstream.targets
  if (!target) throw new Error('an upstream without targets was valid')
  // Its name is the audience of assertions.
  const proxied: ProxyUpstream = { ...upstream, name: route.name, url: target.url }
  const [compiled] = compileRoutes([route], new Map([[upstream.name, proxied]]), carriers)
  if (!compiled || !hasUpstream(compiled)) throw new Error('a valid route was not compiled')
  return compiled
}
