import type { PortalPath } from './page-access.ts'

/** The first page after signing in. */
export const startPath = '/integration' satisfies PortalPath
/** The page that starts the sign-in at an OpenID provider. */
export const startSignInPath = '/sign-in/oidc' satisfies PortalPath
/** Where a provider without a name sends browsers back to. */
export const callbackPath = '/sign-in/oidc/callback' satisfies PortalPath
/** The same for one with a name, which is the ID. */
export const namedCallbackPath = '/sign-in/oidc/callback/:id' satisfies PortalPath
/** The page that asks who may take over an account that was used without the provider. */
export const takeOverPath = '/sign-in/take-over' satisfies PortalPath
/** The page that asks for a passkey instead of password and code. */
export const confirmByPasskeyPath = '/confirm/passkey' satisfies PortalPath
/** The page that asks a provider to authenticate the viewer again. */
export const confirmPath = '/confirm' satisfies PortalPath

/**
 * Each provider has a path of its own, so that none can send browsers back in place of another (RFC 9700 4.4).
 * @param name undefined = the provider without one
 */
export function callbackPathOf(name: string | undefined): string {
  return name === undefined ? callbackPath : namedCallbackPath.replace(':id', name)
}

const oidcPaths: ReadonlySet<string> = new Set<PortalPath>([
  startSignInPath,
  callbackPath,
  namedCallbackPath,
  takeOverPath,
  confirmPath,
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
