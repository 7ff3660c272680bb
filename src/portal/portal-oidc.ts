import type { OidcSignIn } from '#identity/oidc/oidc-sign-in.ts'
import type { OidcOptions, OidcProvider } from '#identity/oidc/provider.ts'
import type { Viewer } from '#identity/portal/portal-sessions.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Sealer } from '#platform/secrets/sealing.ts'
import type { Clock } from '#platform/time.ts'
import {
  createFlowCookies,
  createOidcSessionCookies,
  createTakeOverCookie,
  type FlowCookies,
  type OidcSessionCookies,
  type TakeOverCookie,
} from './cookies/oidc-cookies.ts'
import type { PortalCookie } from './cookies/portal-cookie.ts'
import { createSealedCookies } from './cookies/sealed-cookies.ts'
import type { PortalRequest } from './portal-request.ts'
import type { FrameOidc } from './views/frame.ts'

/** What the pages need to let people sign in at OpenID providers. */
export interface PortalOidc {
  /** At least one, in the order of the config. */
  readonly providers: readonly PortalProvider[]
  /** Whether people may also sign in by password. */
  readonly acceptsPasswords: boolean
  readonly flows: FlowCookies
  readonly sessions: OidcSessionCookies
  readonly takeOvers: TakeOverCookie
}

export interface PortalProvider extends Pick<OidcOptions, 'name' | 'label' | 'issuer'> {
  readonly provider: OidcProvider
  readonly signIn: OidcSignIn
}

interface PortalOidcOptions extends Pick<PortalOidc, 'providers' | 'acceptsPasswords'> {
  readonly sealer: Sealer
  readonly cookie: PortalCookie
  readonly clock: Clock
}

export function createPortalOidc(options: PortalOidcOptions): PortalOidc {
  const { providers, acceptsPasswords, sealer, cookie, clock } = options
  const cookies = createSealedCookies(sealer, cookie)
  return {
    providers,
    acceptsPasswords,
    flows: createFlowCookies(cookies, clock),
    sessions: createOidcSessionCookies(cookies, clock),
    takeOvers: createTakeOverCookie(cookies, clock),
  }
}

/** The providers at which the owner of an account is known, in the order of the config. */
export function linkedProviders({ providers }: PortalOidc, { account }: Viewer): readonly PortalProvider[] {
  const { identities } = account.portal
  return providers.filter(({ issuer }) => identities.some((identity) => identity.issuer === issuer))
}

/**
 * Forgets what the browser keeps about the providers. To be called before the session ends.
 * @returns where to sign out at the provider too; undefined if the session did not begin there, the provider has no
 * such page, or cannot be asked: the session here ends in any case
 */
export async function signOutAtProvider(
  oidc: PortalOidc | undefined,
  { request, viewer }: { readonly request: PortalRequest; readonly viewer: Viewer },
): Promise<string | undefined> {
  const began = oidc?.sessions.find(request, viewer.session)
  oidc?.sessions.clear(request)
  if (!began) return undefined
  const from = oidc?.providers.find(({ name }) => name === began.provider)
  return from?.provider.signOutUrl(began.idToken).catch((error: unknown) => {
    if (error instanceof GatehouseError && error.code === 'sign-in-provider-unavailable') return undefined
    throw error
  })
}

/** The part of it that the views show. @param path of the page, below the portal */
export function frameOidcOf(
  oidc: PortalOidc,
  request: PortalRequest,
  { viewer, path }: { readonly viewer: Viewer | undefined; readonly path: string },
): FrameOidc {
  const { providers, acceptsPasswords, sessions } = oidc
  return {
    providers,
    acceptsPasswords,
    linked: viewer ? linkedProviders(oidc, viewer) : [],
    hasPassword: acceptsPasswords && viewer?.account.portal.password !== undefined,
    isConfirmed: viewer !== undefined && sessions.isConfirmed(request, viewer.session),
    path,
  }
}
