import type { KnownPerson } from '#identity/oidc/oidc-sign-in.ts'
import type { Clock } from '#platform/clock.ts'
import type { PortalRequest } from '../portal-request.ts'
import { takeOverCookieName } from './cookie-names.ts'
import { flowLifetimeMs } from './flow-cookies.ts'
import type { SealedCookies } from './sealed-cookies.ts'

/** Somebody whom the provider has just authenticated, and who is asked whether to take an account over. */
export interface TakeOver {
  readonly person: KnownPerson
  /** undefined = it was too long to be kept. */
  readonly idToken: string | undefined
  /** Where the person wants to go; empty = the start of the portal. */
  readonly next: string
}

/** Keeps it in the browser, for as long as a sign-in. */
export interface TakeOverCookie {
  set(request: PortalRequest, takeOver: TakeOver): void
  read(request: PortalRequest): TakeOver | undefined
  clear(request: PortalRequest): void
}

const attributes = { sameSite: 'strict', path: '/sign-in', maxAgeS: flowLifetimeMs / 1_000 } as const

export function createTakeOverCookie(cookies: SealedCookies, clock: Clock): TakeOverCookie {
  return {
    set: (request, takeOver) => {
      const value = { ...takeOver, at: clock() }
      const isKept = cookies.set(request, takeOverCookieName, value, attributes)
      // Without it the sign-out at the provider asks which session it is about.
      if (!isKept) cookies.set(request, takeOverCookieName, { ...value, idToken: undefined }, attributes)
    },
    read: (request) => {
      // The cast is sound: only `set` seals such a cookie.
      const value = cookies.read(request, takeOverCookieName) as (TakeOver & { at: number }) | undefined
      return value && Math.abs(clock() - value.at) < flowLifetimeMs ? value : undefined
    },
    clear: (request) => cookies.clear(request, takeOverCookieName, attributes),
  }
}
