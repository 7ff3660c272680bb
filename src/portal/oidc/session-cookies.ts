import type { Clock } from '#platform/clock.ts'
import type { PortalSession } from '#store/portal.ts'
import type { PortalRequest } from '../portal-request.ts'
import { beginningCookieName, confirmationCookieName } from './cookie-names.ts'
import type { SealedCookies } from './sealed-cookies.ts'

/** What the browser keeps about a session that began at the provider; worth nothing without the session. */
export interface OidcSessionCookies {
  /** Remembers that a session began at the provider, with the ID token for the sign-out there. */
  begin(request: PortalRequest, session: PortalSession, idToken: string | undefined): void
  /** How the session began at the provider; undefined = it did not. The ID token is left out if it is too long. */
  find(request: PortalRequest, session: PortalSession): { readonly idToken: string | undefined } | undefined
  /** Records that the owner of the session has authenticated again. */
  confirm(request: PortalRequest, sessionId: string): void
  /** Whether the owner has done so in the last `confirmationMs`. */
  isConfirmed(request: PortalRequest, session: PortalSession): boolean
  clear(request: PortalRequest): void
}

/** For so long nobody is asked again. */
export const confirmationMs = 300_000

export function createOidcSessionCookies(cookies: SealedCookies, clock: Clock): OidcSessionCookies {
  const confirmation = { sameSite: 'strict', maxAgeS: confirmationMs / 1_000 } as const
  const lastingFor = (ms: number) =>
    ({ sameSite: 'strict', maxAgeS: Math.max(0, Math.floor(ms / 1_000)) }) as const

  function begin(
    request: PortalRequest,
    { id, createdAt, expiresAt }: PortalSession,
    idToken: string | undefined,
  ): void {
    const attributes = lastingFor(expiresAt - createdAt)
    const isKept = cookies.set(request, beginningCookieName, { session: id, idToken }, attributes)
    if (!isKept) cookies.set(request, beginningCookieName, { session: id }, attributes)
  }

  function find(request: PortalRequest, { id }: PortalSession): ReturnType<OidcSessionCookies['find']> {
    const { session, idToken } = cookies.read(request, beginningCookieName) ?? {}
    return session === id ? { idToken: typeof idToken === 'string' ? idToken : undefined } : undefined
  }

  function isConfirmed(request: PortalRequest, { id }: PortalSession): boolean {
    const { session, at } = cookies.read(request, confirmationCookieName) ?? {}
    return session === id && typeof at === 'number' && Math.abs(clock() - at) < confirmationMs
  }

  return {
    begin,
    find,
    confirm: (request, sessionId) => {
      cookies.set(request, confirmationCookieName, { session: sessionId, at: clock() }, confirmation)
    },
    isConfirmed,
    clear: (request) => {
      for (const name of [beginningCookieName, confirmationCookieName])
        cookies.clear(request, name, lastingFor(0))
    },
  }
}
