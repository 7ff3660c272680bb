/** The pages of the sign-in at an OpenID provider, below the portal. */
export const startSignInPath = '/sign-in/oidc'
/** Where the provider sends browsers back to. */
export const callbackPath = '/sign-in/oidc/callback'
/** Asks who may take over an account that was used without the provider. */
export const takeOverPath = '/sign-in/take-over'
/** Asks the provider to authenticate the viewer again. */
export const confirmPath = '/confirm'

const oidcPaths: ReadonlySet<string> = new Set([startSignInPath, callbackPath, takeOverPath, confirmPath])

/** Whether there is such a page only where the config has a provider. */
export function isOidcPath(path: string): boolean {
  return oidcPaths.has(path)
}
