import { standardMethods } from './route.ts'

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
/** Where an account asks about its own usage. */
export const ownUsagePath = '/api/v1/accounts/usage'
export type OwnUsagePath = typeof ownUsagePath
/** Where those who may ask about tokens follow revocations. */
export const revocationsPath = '/api/v1/revocations'
export type RevocationsPath = typeof revocationsPath
/** The paths besides those for Admins whose callers are authenticated before their handlers run. */
const gatedPaths = [ownUsagePath, revocationsPath] as const satisfies readonly OwnPath[]
const gated: ReadonlySet<string> = new Set(gatedPaths)
export type GatedPath = AdminPath | (typeof gatedPaths)[number]
export type PublicPath = Exclude<OwnPath, GatedPath>

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
export const fixedPaths = ownEntries.filter(([path]) => !isMetadataPath(path))
export const adminPatterns = ownEntries
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

export function isAdminPath(path: string): boolean {
  return path.startsWith(adminPrefix)
}

export type MetadataPath = Extract<OwnPath, `/.well-known/oauth-protected-resource${string}`>

function isMetadataPath(path: string): boolean {
  return path.startsWith('/.well-known/oauth-protected-resource')
}

/** Whether the callers of an own path are authenticated. */
export function isGatedPath(path: string): boolean {
  return isAdminPath(path) || gated.has(path)
}
