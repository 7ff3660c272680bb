import type { TokenCookie } from '#api/token-cookies.ts'
import type { Config } from '#config/config.ts'
import {
  type CheckBasicKey,
  createAccessCookieReader,
  createBasicKeyCheck,
  type ReadAccessCookie,
} from '#gateway/browser/ambient-credentials.ts'
import {
  createSignInFinder,
  createSignInRedirect,
  type FindSignIn,
  type RedirectToSignIn,
  visitCookieName,
} from '#gateway/browser/sign-in.ts'
import {
  createHandOverKeys,
  type HandOverKeys,
  handOverCookieNames,
} from '#gateway/browser/sign-in-return.ts'
import { createOwnCookies, type OwnCookies } from '#gateway/forward/own-cookies.ts'
import { createKeyHeaderReader, type ReadKeyHeaders } from '#gateway/gate/route-credentials.ts'
import { signInHostsOf } from '#gateway/routes/route-urls.ts'
import { createCarriers } from '#identity/keys/carriers.ts'
import { looksLikeAccessToken } from '#identity/tokens/jwt.ts'
import { portalCookieNames } from '#portal/portal-cookie.ts'

/** What serves browsers that can set no header; all undefined where the access cookie is not enabled. */
export interface BrowserParts {
  readonly readAccessCookie: ReadAccessCookie | undefined
  /** undefined without the portal, too. */
  readonly findSignIn: FindSignIn | undefined
  readonly redirectToSignIn: RedirectToSignIn | undefined
}

type BrowserConfig = Pick<Config, 'accessCookie' | 'cookie' | 'cors' | 'portal' | 'publicOrigin' | 'routes'>

export function createBrowserParts({
  accessCookie,
  cors,
  portal,
  publicOrigin,
  routes,
}: BrowserConfig): BrowserParts {
  const { enabled, name, sameSite, isSecure } = accessCookie
  if (!enabled) return { readAccessCookie: undefined, findSignIn: undefined, redirectToSignIn: undefined }
  const isAlone = portal.host !== undefined
  const hosts = isAlone ? signInHostsOf(routes, publicOrigin) : undefined
  const findSignIn = portal.enabled
    ? createSignInFinder({
        portalPath: portal.path,
        isSecure,
        portalHost: hosts && { origin: portal.origin, hosts },
      })
    : undefined
  const handOverKeys = isAlone ? createConfiguredHandOverKeys({ publicOrigin }) : undefined
  return {
    readAccessCookie: createAccessCookieReader({ name, sameSite, publicOrigin, origins: cors.origins }),
    findSignIn,
    redirectToSignIn: findSignIn && createSignInRedirect({ findSignIn, handOverKeys }),
  }
}

/** For routes: pages of `cors.origins` may send keys by Basic. */
export function createConfiguredBasicKeyCheck({
  cors,
  publicOrigin,
}: Pick<Config, 'cors' | 'publicOrigin'>): CheckBasicKey {
  return createBasicKeyCheck({ publicOrigin, origins: cors.origins })
}

/** For routes whose Authorization field is the backend's. */
export function createConfiguredKeyHeaderReader({
  keys,
  tokens,
}: Pick<Config, 'keys' | 'tokens'>): ReadKeyHeaders {
  return createKeyHeaderReader(createCarriers(keys.accept), tokens.issuer)
}

/** For a portal on a host of its own. */
export function createConfiguredHandOverKeys({ publicOrigin }: Pick<Config, 'publicOrigin'>): HandOverKeys {
  return createHandOverKeys(publicOrigin.startsWith('https:'))
}

/** undefined = it is not enabled. */
export function accessCookieOf({ accessCookie }: Pick<Config, 'accessCookie'>): TokenCookie | undefined {
  return accessCookie.enabled ? accessCookie : undefined
}

/**
 * The cookies that no backend gets or sets. Where the access cookie is not enabled its name is the backends', but tokens
 * in it are still ours: browsers have them from before the config was changed.
 */
export function createConfiguredOwnCookies({
  accessCookie,
  cookie,
  portal,
}: Pick<BrowserConfig, 'accessCookie' | 'cookie' | 'portal'>): OwnCookies {
  const { name, enabled } = accessCookie
  return createOwnCookies({
    names: [cookie.name, ...(portal.enabled ? portalCookieNames : [])],
    anyCase: enabled ? [name, visitCookieName, ...handOverCookieNames] : [],
    others: enabled ? [] : [{ name, isOwn: looksLikeAccessToken }],
  })
}
