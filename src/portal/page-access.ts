/** Who may access a page: anyone, any signed-in viewer, or only Admins. */
export type PageAudience = 'anyone' | 'viewer' | 'admin'

/** The methods of a page; GET includes HEAD. */
export type PageMethods = 'GET' | 'POST' | 'GET, POST'

/** A path of the portal: who may access it, and its methods. */
type PageRule = readonly [audience: PageAudience, methods: PageMethods]

/** Every page by its path below the portal: no other page can be registered. */
const accessByPath = {
  '': ['anyone', 'GET'],
  '/': ['anyone', 'GET'],
  '/sign-in': ['anyone', 'GET, POST'],
  '/sign-in/oidc': ['anyone', 'GET'],
  '/sign-in/oidc/callback': ['anyone', 'GET'],
  '/sign-in/oidc/callback/:id': ['anyone', 'GET'],
  '/sign-in/take-over': ['anyone', 'GET, POST'],
  '/confirm': ['viewer', 'GET'],
  '/confirm/passkey': ['viewer', 'GET, POST'],
  '/confirm/passkey/options': ['viewer', 'POST'],
  '/sign-in/code': ['anyone', 'POST'],
  '/sign-in/passkey': ['anyone', 'POST'],
  '/sign-in/passkey/options': ['anyone', 'POST'],
  '/forgot': ['anyone', 'GET, POST'],
  '/setup': ['anyone', 'GET, POST'],
  '/setup/check': ['anyone', 'POST'],
  '/verify': ['anyone', 'GET, POST'],
  '/continue': ['viewer', 'GET'],
  '/sign-out': ['viewer', 'POST'],
  '/sign-out-everywhere': ['viewer', 'POST'],
  '/integration': ['viewer', 'GET'],
  '/integration/secret-key/reveal': ['viewer', 'POST'],
  '/integration/secret-key/reset': ['viewer', 'POST'],
  '/integration/secret-key/end-overlap': ['viewer', 'POST'],
  '/integration/api-key/reveal': ['viewer', 'POST'],
  '/integration/api-key/reset': ['viewer', 'POST'],
  '/integration/keys/create': ['viewer', 'POST'],
  '/integration/keys/certificate': ['viewer', 'POST'],
  '/integration/keys/rotate': ['viewer', 'POST'],
  '/integration/keys/rename': ['viewer', 'POST'],
  '/integration/keys/revoke': ['viewer', 'POST'],
  '/integration/usage': ['viewer', 'GET'],
  '/integration/try': ['viewer', 'POST'],
  '/api': ['viewer', 'GET'],
  '/usage': ['viewer', 'GET'],
  '/usage/export': ['viewer', 'GET'],
  '/sessions': ['viewer', 'GET'],
  '/sessions/end': ['viewer', 'POST'],
  '/sessions/end-all': ['viewer', 'POST'],
  '/sessions/end-portal': ['viewer', 'POST'],
  '/profile': ['viewer', 'GET'],
  '/profile/name': ['viewer', 'POST'],
  '/profile/language': ['viewer', 'POST'],
  '/profile/email': ['viewer', 'POST'],
  '/profile/password': ['viewer', 'POST'],
  '/profile/two-factor': ['viewer', 'GET, POST'],
  '/profile/two-factor/recovery-codes': ['viewer', 'POST'],
  '/profile/two-factor/disable': ['viewer', 'POST'],
  '/profile/two-factor/passkeys/options': ['viewer', 'POST'],
  '/profile/two-factor/passkeys/add': ['viewer', 'POST'],
  '/profile/two-factor/passkeys/rename': ['viewer', 'POST'],
  '/profile/two-factor/passkeys/remove': ['viewer', 'POST'],
  '/accounts': ['admin', 'GET'],
  '/accounts/export': ['admin', 'GET'],
  '/accounts/several': ['admin', 'POST'],
  '/accounts/several/apply': ['admin', 'POST'],
  '/accounts/new': ['admin', 'GET, POST'],
  '/accounts/import': ['admin', 'GET, POST'],
  '/accounts/:id': ['admin', 'GET'],
  '/accounts/:id/usage': ['admin', 'GET'],
  '/accounts/:id/usage/export': ['admin', 'GET'],
  '/accounts/:id/update': ['admin', 'POST'],
  '/accounts/:id/verify': ['admin', 'POST'],
  '/accounts/:id/unverify': ['admin', 'POST'],
  '/accounts/:id/disable': ['admin', 'POST'],
  '/accounts/:id/enable': ['admin', 'POST'],
  '/accounts/:id/set-up-link': ['admin', 'POST'],
  '/accounts/:id/mail-set-up-link': ['admin', 'POST'],
  '/accounts/:id/unlink': ['admin', 'POST'],
  '/accounts/:id/reset-second-factor': ['admin', 'POST'],
  '/accounts/:id/reset-secret-key': ['admin', 'POST'],
  '/accounts/:id/reset-api-key': ['admin', 'POST'],
  '/accounts/:id/end-overlap': ['admin', 'POST'],
  '/accounts/:id/keys/revoke': ['admin', 'POST'],
  '/accounts/:id/end': ['admin', 'POST'],
  '/accounts/:id/end-all': ['admin', 'POST'],
  '/accounts/:id/end-portal': ['admin', 'POST'],
  '/accounts/:id/end-all-portal': ['admin', 'POST'],
  '/accounts/:id/delete': ['admin', 'GET, POST'],
  '/subjects': ['admin', 'GET'],
  '/subjects/block': ['admin', 'POST'],
  '/subjects/unblock': ['admin', 'POST'],
  '/audit': ['admin', 'GET'],
  '/audit/export': ['admin', 'GET'],
  '/events': ['admin', 'GET'],
  '/events/retry': ['admin', 'POST'],
  '/events/test': ['admin', 'POST'],
} as const satisfies Readonly<Record<string, PageRule>>

export type PortalPath = keyof typeof accessByPath

/** The paths for these audiences with exactly these methods. */
export type PathsOf<Audience extends PageAudience, Methods extends PageMethods> = {
  [Path in PortalPath]: (typeof accessByPath)[Path] extends readonly [Audience, Methods] ? Path : never
}[PortalPath]

/** Who may access the page at a path. The table is the only source of this, at run time and for the types. */
export function audienceOf(path: PortalPath): PageAudience {
  return accessByPath[path][0]
}

/** The methods as `Allow` lists them. */
const methodLists: Readonly<Record<PageMethods, readonly string[]>> = {
  GET: ['GET', 'HEAD'],
  POST: ['POST'],
  'GET, POST': ['GET', 'HEAD', 'POST'],
}

/** A page as the table describes it. */
export interface PageAccess {
  readonly path: string
  readonly audience: PageAudience
  readonly methods: readonly string[]
}

export const pageAccess: readonly PageAccess[] = Object.entries(accessByPath).map(([path, rule]) =>
  pageAccessBy(path, rule),
)

/** The page of a path as it is written in the table. */
export function pageAccessOf(path: PortalPath): PageAccess {
  return pageAccessBy(path, accessByPath[path])
}

function pageAccessBy(path: string, [audience, methods]: PageRule): PageAccess {
  return { path, audience, methods: methodLists[methods] }
}

// As the router matches them: a path that ends where the ID would be has an empty ID.
const patterns = pageAccess.map((page) => ({
  page,
  pattern: new RegExp(`^${page.path.replace(':id', '[^/]*')}$`),
}))

/** The page at a path below the portal; a literal path takes precedence over one with an ID. */
export function pageAccessAt(path: string): PageAccess | undefined {
  const literal = pageAccess.find((page) => page.path === path)
  return literal ?? patterns.find(({ pattern }) => pattern.test(path))?.page
}

const enrolmentPaths: ReadonlySet<string> = new Set<PortalPath>([
  '/profile/two-factor',
  '/profile/two-factor/passkeys/options',
  '/profile/two-factor/passkeys/add',
  '/sign-out',
  '/sign-out-everywhere',
])

/** Whether an account may use a page before it has set up a required second factor. */
export function isForEnrolment(path: string): boolean {
  return enrolmentPaths.has(path)
}

const rootPaths: ReadonlySet<string> = new Set<PortalPath>(['', '/'])

/** Whether a page only redirects: to the first page, or to sign-in. */
export function isRootPath(path: string): boolean {
  return rootPaths.has(path)
}

/** The first page after signing in. */
export const startPath = '/integration' satisfies PortalPath

/**
 * Where an OpenID provider sends browsers back to. Each has a path of its own, so that none can send them back in place
 * of another (RFC 9700 4.4).
 * @param name undefined = the provider without one
 */
export function callbackPathOf(name: string | undefined): string {
  const named = '/sign-in/oidc/callback/:id' satisfies PortalPath
  return name === undefined ? '/sign-in/oidc/callback' : named.replace(':id', name)
}

const oidcPaths: ReadonlySet<string> = new Set<PortalPath>([
  '/sign-in/oidc',
  '/sign-in/oidc/callback',
  '/sign-in/oidc/callback/:id',
  '/sign-in/take-over',
  '/confirm',
])

/** Whether a page only exists if the config has a provider. */
export function isOidcPath(path: string): boolean {
  return oidcPaths.has(path)
}

const passkeyPattern = /^\/(?:sign-in|confirm|profile\/two-factor)\/passkeys?(?:\/|$)/

/** Whether a page only exists if the portal has passkeys. */
export function isPasskeyPath(path: string): boolean {
  return passkeyPattern.test(path)
}
