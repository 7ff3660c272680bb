import type { OidcSignIn } from '#identity/oidc/oidc-sign-in.ts'
import type { OidcOptions, OidcProvider } from '#identity/oidc/provider.ts'
import type { Viewer } from '#identity/portal/portal-sessions.ts'
import type { Clock } from '#platform/clock.ts'
import type { Sealer } from '#platform/secrets/sealing.ts'
import type { PortalCookie } from '../portal-cookie.ts'
import type { PortalRequest } from '../portal-request.ts'
import type { FrameOidc } from '../views/frame.ts'
import {
  createFlowCookies,
  createOidcSessionCookies,
  createSealedCookies,
  createTakeOverCookie,
  type FlowCookies,
  type OidcSessionCookies,
  type TakeOverCookie,
} from './oidc-cookies.ts'

/** What the pages need to let people sign in at an OpenID provider. */
export interface PortalOidc extends Pick<OidcOptions, 'label' | 'acceptsPasswords'> {
  readonly provider: OidcProvider
  readonly signIn: OidcSignIn
  readonly flows: FlowCookies
  readonly sessions: OidcSessionCookies
  readonly takeOvers: TakeOverCookie
}

interface PortalOidcOptions {
  readonly oidc: OidcOptions
  readonly provider: OidcProvider
  readonly signIn: OidcSignIn
  readonly sealer: Sealer
  readonly cookie: PortalCookie
  readonly clock: Clock
}

export function createPortalOidc(options: PortalOidcOptions): PortalOidc {
  const { oidc, provider, signIn, sealer, cookie, clock } = options
  const cookies = createSealedCookies(sealer, cookie)
  return {
    label: oidc.label,
    acceptsPasswords: oidc.acceptsPasswords,
    provider,
    signIn,
    flows: createFlowCookies(cookies, clock),
    sessions: createOidcSessionCookies(cookies, clock),
    takeOvers: createTakeOverCookie(cookies, clock),
  }
}

/** What the views show of it. @param path of the page, below the portal */
export function frameOidcOf(
  { label, acceptsPasswords, sessions }: PortalOidc,
  request: PortalRequest,
  { viewer, path }: { readonly viewer: Viewer | undefined; readonly path: string },
): FrameOidc {
  const { portal } = viewer?.account ?? {}
  return {
    label,
    acceptsPasswords,
    canConfirm: portal?.identity !== undefined,
    hasPassword: acceptsPasswords && portal?.password !== undefined,
    isConfirmed: viewer !== undefined && sessions.isConfirmed(request, viewer.session),
    path,
  }
}
