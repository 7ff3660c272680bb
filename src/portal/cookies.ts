import {
  accessCookieAttributes,
  cleared,
  cookieOptionsOf,
  refreshCookieAttributes,
} from '#gateway/browser/token-cookies.ts'
import type { SignedIn } from '#identity/portal/portal-sessions.ts'
import type { IssuedTokens } from '#identity/tokens/issued-tokens.ts'
import type { TokenCookie } from '#platform/http.ts'
import { randomText } from '#platform/secrets/key-format.ts'
import type { PortalRequest } from './portal-request.ts'

/** The cookies of the portal. Browsers send them only to the portal, never to a backend. */
export type PortalCookies = ReturnType<typeof createPortalCookies>

interface PortalCookiesOptions {
  readonly path: string
  readonly isSecure: boolean
  /** Whether no backend is on the host of the portal. */
  readonly isAlone: boolean
  /** The cookies with the tokens of a session; undefined = the access cookie is not enabled. */
  readonly tokens: { readonly access: TokenCookie; readonly refresh: TokenCookie } | undefined
}

/** How many accounts one browser keeps a client token for. */
const clientTokensMax = 4
/** The longest lifetime that browsers allow a cookie: 400 days. */
const clientMaxAgeS = 400 * 86_400

const formTokenLength = 32
const formTokenPattern = /^[0-9A-Za-z]{32}$/

/**
 * The session cookie is HttpOnly and SameSite=Strict, and lasts no longer than the session. Its path is that of the
 * portal, hence `__Secure-` rather than `__Host-`: a `__Host-` cookie would be sent to every backend too. If the portal
 * has a host of its own it is `__Host-`, so that no other host of the domain can set it.
 */
export function createPortalCookies({ path, isSecure, isAlone, tokens }: PortalCookiesOptions) {
  const prefix = prefixOf({ isSecure, isAlone })
  const name = sessionCookieName({ isSecure, isAlone })
  const formName = `${prefix}${formCookie}`
  const clientName = `${prefix}${clientCookie}`
  /** @param below what the cookie is for, below the portal; default: all of it */
  const pathOf = (below = '') => (prefix === '__Host-' ? '/' : `${path}${below}`)
  const attributes = {
    path: pathOf(),
    httpOnly: true,
    secure: isSecure,
    sameSite: 'strict',
  } as const

  /** The client tokens of a browser that has signed in before, one for each account. */
  function readClientTokens(request: PortalRequest): readonly string[] {
    return (request.cookies.get(clientName) ?? '').split('~', clientTokensMax)
  }

  /** Sets the cookies that routes and the token endpoints accept. */
  function setTokens({ cookies }: PortalRequest, issued: IssuedTokens): void {
    if (!tokens) return
    const { cookieToken = '', refreshToken } = issued
    const { access, refresh } = tokens
    cookies.set(access.name, cookieToken, accessCookieAttributes(access, cookieToken))
    cookies.set(refresh.name, refreshToken, refreshCookieAttributes(refresh, issued))
  }

  function clearTokens({ cookies }: PortalRequest): void {
    if (!tokens) return
    for (const each of [tokens.access, tokens.refresh])
      cookies.set(each.name, '', { ...cookieOptionsOf(each), ...cleared })
  }

  return {
    path,
    isSecure,
    /** What the names of all these cookies begin with. */
    prefix,
    pathOf,
    /** The session token of a request; undefined if there is none. */
    readSession: (request: PortalRequest): string | undefined => request.cookies.get(name) || undefined,
    readClientTokens,
    setTokens,
    /** Also sets the client token, which identifies this browser at its next sign-in. */
    setSession: (request: PortalRequest, { token, clientToken, session, tokens: issued }: SignedIn): void => {
      const maxAge = Math.max(0, Math.floor((session.expiresAt - session.createdAt) / 1_000))
      request.cookies.set(name, token, { ...attributes, maxAge })
      const others = readClientTokens(request).filter((other) => other !== '' && other !== clientToken)
      const known = [clientToken, ...others].slice(0, clientTokensMax).join('~')
      request.cookies.set(clientName, known, { ...attributes, maxAge: clientMaxAgeS })
      if (issued) setTokens(request, issued)
      // The browser may still have tokens of whoever was signed in before.
      else clearTokens(request)
    },
    clearSession: (request: PortalRequest): void => {
      request.cookies.set(name, '', { ...attributes, ...cleared })
      clearTokens(request)
    },
    /** The token that forms are bound to before signing in; undefined if there is none yet. */
    readFormToken: (request: PortalRequest): string | undefined => {
      const token = request.cookies.get(formName)
      return token !== undefined && formTokenPattern.test(token) ? token : undefined
    },
    setFormToken: (request: PortalRequest): string => {
      const token = randomText(formTokenLength)
      request.cookies.set(formName, token, attributes)
      return token
    },
  }
}

const sessionCookie = 'gatehouse-portal'
const formCookie = 'gatehouse-form'
const clientCookie = 'gatehouse-known'

/** Sign-ins at the provider in progress, one per tab. */
export const flowCookieNames: readonly string[] = ['0', '1', '2'].map((index) => `gatehouse-sign-in-${index}`)
/** Records at which provider a session began. */
export const beginningCookieName = 'gatehouse-oidc'
/** Records that the owner of a session has authenticated again. */
export const confirmationCookieName = 'gatehouse-confirmed'
/** Records that the viewer has used a passkey. */
export const passkeyConfirmationCookieName = 'gatehouse-confirmed-passkey'

/** Records who may take over an account. */
export const takeOverCookieName = 'gatehouse-take-over'
/** The notice that the next page shows. */
export const noticeCookieName = 'gatehouse-notice'

/** Every name that a cookie of the portal can have. */
export const portalCookieNames: readonly string[] = [
  sessionCookie,
  formCookie,
  clientCookie,
  ...flowCookieNames,
  beginningCookieName,
  confirmationCookieName,
  passkeyConfirmationCookieName,
  takeOverCookieName,
  noticeCookieName,
].flatMap((name) => [name, `__Secure-${name}`, `__Host-${name}`])

export function sessionCookieName(options: NamePrefix): string {
  return `${prefixOf(options)}${sessionCookie}`
}

type NamePrefix = Pick<PortalCookiesOptions, 'isSecure' | 'isAlone'>

function prefixOf({ isSecure, isAlone }: NamePrefix): string {
  if (!isSecure) return ''
  return isAlone ? '__Host-' : '__Secure-'
}
