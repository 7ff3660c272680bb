import { type FrontedIssuer, issuerPathsOf } from './issuer-paths.ts'
import { standardMethods } from './route.ts'
import {
  metadataPathsOf,
  type ResourceRoute,
  returnsToOtherHosts,
  type SignInRoute,
  signInReturnPath,
} from './route-urls.ts'
import { createWorkerScopes, type WorkerScopes } from './worker-scopes.ts'

/** A method that an endpoint of the gateway can support; GET includes HEAD. */
type OwnMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE'

const adminPrefix = '/api/v1/admin/'

/**
 * Every path of the gateway itself, and the methods it supports: Fastify's routes, the 405s, preflights, `explain` and
 * the OpenAPI document come from this table. The pages of the portal have one of their own (portal/page-access.ts).
 */
const ownOperations = {
  '/api/v1/accounts/access-token': ['POST'],
  '/api/v1/accounts/refresh-token': ['POST'],
  '/api/v1/accounts/revoke-token': ['POST'],
  '/api/v1/accounts/usage': ['GET'],
  '/api/v1/oauth/token': ['POST'],
  '/api/v1/oauth/introspect': ['POST'],
  '/api/v1/oauth/revoke': ['POST'],
  '/api/v1/keys/revoke': ['POST'],
  '/api/v1/revocations': ['GET'],
  '/.well-known/jwks.json': ['GET'],
  '/.well-known/oauth-authorization-server': ['GET'],
  '/.well-known/oauth-protected-resource': ['GET'],
  '/.well-known/oauth-protected-resource/:path': ['GET'],
  '/api/v1/openapi.json': ['GET'],
  '/api/v1/admin/accounts': ['GET', 'POST'],
  '/api/v1/admin/accounts/:id': ['GET', 'PATCH', 'DELETE'],
  '/api/v1/admin/accounts/:id/secret-key': ['POST'],
  '/api/v1/admin/accounts/:id/api-key': ['POST'],
  '/api/v1/admin/accounts/:id/keys': ['GET', 'POST'],
  '/api/v1/admin/accounts/:id/keys/:name': ['DELETE'],
  '/api/v1/admin/accounts/:id/sessions': ['GET', 'DELETE'],
  '/api/v1/admin/accounts/:id/second-factor': ['DELETE'],
  '/api/v1/admin/accounts/:id/usage': ['GET'],
  '/api/v1/admin/apply': ['POST'],
  '/api/v1/admin/subjects': ['GET', 'POST', 'DELETE'],
  '/api/v1/admin/audit': ['GET'],
} as const satisfies Readonly<Record<`/${string}`, readonly OwnMethod[]>>

type OwnPath = keyof typeof ownOperations
export type AdminPath = Extract<OwnPath, `${typeof adminPrefix}${string}`>
/** The paths at which an account asks about itself. */
export type OwnAccountPath = '/api/v1/accounts/usage'
/** Where those who may ask about tokens follow revocations. */
export const revocationsPath = '/api/v1/revocations'
export type RevocationsPath = typeof revocationsPath
/** The paths whose callers are authenticated before their handlers run. */
export type GatedPath = AdminPath | OwnAccountPath | RevocationsPath
export type PublicPath = Exclude<OwnPath, GatedPath>

const gated: readonly string[] = ['/api/v1/accounts/usage', revocationsPath] satisfies GatedPath[]

/** The endpoints of OAuth 2, which take forms. */
export type OAuthPath = Extract<OwnPath, `/api/v1/oauth/${string}`>

/** Where both keys are exchanged for tokens. */
export const accessTokenPath = '/api/v1/accounts/access-token' satisfies PublicPath
/** The token endpoint of OAuth 2. */
export const oauthTokenPath = '/api/v1/oauth/token' satisfies OAuthPath
/** Contact for vulnerabilities (RFC 9116); one of our own paths only if configured. */
export const securityTxtPath = '/.well-known/security.txt'
/** Leads people to where they change their password (W3C, "A Well-Known URL for Changing Passwords"); of the portal. */
export const changePasswordPath = '/.well-known/change-password'
/** The path to which browsers send a refresh token as a cookie. */
export const refreshTokenPath = '/api/v1/accounts/refresh-token' satisfies PublicPath

/** A value for each operation, so that the compiler finds a missing one. */
export type PerOperation<Value, Path extends OwnPath = OwnPath> = {
  readonly [Each in Path]: { readonly [Method in (typeof ownOperations)[Each][number]]: Value }
}

/** The methods of what can only be read. */
export const documentMethods: readonly string[] = ['GET', 'HEAD']

/** The methods of the portal's pages. */
export const portalMethods: readonly string[] = ['GET', 'HEAD', 'POST']

/** A method that no endpoint supports: it represents all that a path does not support. */
export const unlistedMethod = 'TRACE'
/** The methods that the router of an app distinguishes: there each path is registered for each of them. */
export const ownMethods: readonly string[] = [...standardMethods, unlistedMethod]

const ownEntries: readonly (readonly [path: string, methods: readonly string[]])[] = Object.entries(
  ownOperations,
).map(([path, methods]) => [
  path,
  methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
])
const methodsByPath: ReadonlyMap<string, readonly string[]> = new Map(ownEntries)
/** Excludes the metadata of resources (RFC 9728), whose paths depend on the routes. */
const fixedPaths = ownEntries.filter(([path]) => !isMetadataPath(path))
const adminPatterns = ownEntries
  .filter(([path]) => isAdminPath(path))
  .map(([path, methods]) => ({
    pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`),
    methods,
  }))

/** Values for the operations of some paths, by path and method, in the order of the table. */
export function byPathAndMethod<Value, Path extends OwnPath>(
  values: PerOperation<Value, Path>,
): readonly (readonly [path: string, ofPath: readonly (readonly [method: OwnMethod, value: Value])[]])[] {
  const given: Readonly<Record<string, Readonly<Partial<Record<OwnMethod, Value>>>>> = values
  return Object.entries(ownOperations).flatMap(([path, methods]) => {
    const ofPath = given[path]
    if (!ofPath) return []
    const pairs = methods.flatMap((method) => {
      const value = ofPath[method]
      return value === undefined ? [] : [[method, value] as const]
    })
    return [[path, pairs] as const]
  })
}

/** The methods that a path of the table supports, as Allow lists them. */
export function allowedMethods(path: string): readonly string[] {
  return methodsByPath.get(path) ?? []
}

/** Whether an own path is one of the admin API. */
export function isAdminPath(path: string): boolean {
  return path.startsWith(adminPrefix)
}

export type MetadataPath = Extract<OwnPath, `/.well-known/oauth-protected-resource${string}`>

function isMetadataPath(path: string): boolean {
  return path.startsWith('/.well-known/oauth-protected-resource')
}

/** Whether the callers of an own path are authenticated. */
export function isGatedPath(path: string): boolean {
  return isAdminPath(path) || gated.includes(path)
}

/** The paths that belong to the gateway for every method, and take precedence over any route. */
export interface OwnPaths {
  /** @param hostName in lower case; undefined = on any host */
  has(path: string, hostName?: string): boolean
  /** Whether a path may be one of these on any host. Rules out most other paths without a look-up. */
  mayHave(path: string): boolean
  /** Whether a host has the paths of the gateway only, and no routes. */
  isOwnHost(hostName: string): boolean
  /** The methods that a path supports; undefined where the portal decides. */
  methodsOf(path: string): readonly string[] | undefined
  /** The service workers that could reach the portal; undefined = there is no portal on this origin. */
  readonly portalScopes: WorkerScopes | undefined
}

/** Whether there is a portal, and where. */
interface PortalMount {
  readonly enabled: boolean
  readonly path: string
  /** The only host with a portal; undefined = all hosts have it. */
  readonly host?: string | undefined
  /** Whether people have passwords there. */
  readonly acceptsPasswords?: boolean
}

/** What has paths of the gateway only where the config says so. */
interface FurtherPaths {
  /** Those with `registration` have endpoints. */
  readonly issuers?: readonly FrontedIssuer[]
  /** undefined = its path is free for routes. */
  readonly securityTxt?: string | undefined
}

/**
 * @param routes those that accept bearer tokens have metadata at paths of the gateway; those with `signIn` have a path
 * to return by
 */
export function createOwnPaths(
  portal: PortalMount,
  routes: readonly (ResourceRoute & SignInRoute)[] = [],
  { issuers = [], securityTxt }: FurtherPaths = {},
): OwnPaths {
  const { enabled, path: portalPath, host: portalHost, acceptsPasswords = false } = portal
  const documents = [...metadataPathsOf(routes), ...(securityTxt === undefined ? [] : [securityTxtPath])]
  const documentEntries = documents.map((path) => [path, documentMethods] as const)
  const signInReturnEntries = returnsToOtherHosts(portal, routes)
    ? [[signInReturnPath, ['GET']] as const]
    : []
  const known: ReadonlyMap<string, readonly string[]> = new Map([
    ...fixedPaths,
    ...documentEntries,
    ...signInReturnEntries,
    ...issuerPathsOf(issuers),
  ])
  const portalPrefix = `${portalPath}/`

  function methodsOf(path: string): readonly string[] | undefined {
    const methods = known.get(path)
    if (methods || !isAdminPath(path)) return methods
    return adminPatterns.find(({ pattern }) => pattern.test(path))?.methods
  }

  /** Every known path begins with one of these. */
  const ownPrefixes = [...new Set([...known.keys()].map(firstSegments))]

  function isOfPortal(path: string): boolean {
    if (path === changePasswordPath) return acceptsPasswords
    return enabled && (path === portalPath || path.startsWith(portalPrefix))
  }

  function hasPortal(hostName: string | undefined): boolean {
    return portalHost === undefined || hostName === undefined || hostName === portalHost
  }

  return {
    methodsOf,
    portalScopes: enabled && portalHost === undefined ? createWorkerScopes(portalPath) : undefined,
    mayHave: (path) => ownPrefixes.some((prefix) => path.startsWith(prefix)) || isOfPortal(path),
    has: (path, hostName) => methodsOf(path) !== undefined || (isOfPortal(path) && hasPortal(hostName)),
    isOwnHost: (hostName) => enabled && hostName === portalHost,
  }
}

/** The start of a path, as `ownPrefixes` has them: the first two segments, `/api/v1/`, or all of a shorter path. */
function firstSegments(path: string): string {
  const end = path.indexOf('/', path.indexOf('/', 1) + 1)
  return end <= 0 ? path : path.slice(0, end + 1)
}
