import type { SignInSecrets } from '#identity/oidc/provider.ts'
import type { Clock } from '#platform/clock.ts'
import { isSameText } from '#platform/secrets/constant-time.ts'
import type { PortalRequest } from '../portal-request.ts'
import { flowCookieNames } from './cookie-names.ts'
import type { SealedCookies } from './sealed-cookies.ts'

/** A sign-in on its way: the browser that started it keeps it, and no other can complete it. */
export interface Flow extends SignInSecrets {
  /** Where the person wants to go, as the sign-in page got it; empty = the start of the portal. */
  readonly next: string
  /** Whom a confirmation is for; undefined = it is a sign-in. */
  readonly confirms: { readonly accountId: string; readonly sessionId: string } | undefined
}

export interface FlowCookies {
  /** As many sign-ins of a browser as there are names, as when several tabs are opened again; then the oldest is forgotten. */
  start(request: PortalRequest, flow: Flow): void
  /** The sign-in that a browser comes back with, once; undefined where it did not start it, or too long ago. */
  take(request: PortalRequest, state: string): Flow | undefined
}

export const flowLifetimeMs = 600_000

/** Lax: the browser comes from the provider's site. Only below the sign-in page. */
const attributes = { sameSite: 'lax', path: '/sign-in', maxAgeS: flowLifetimeMs / 1_000 } as const

export function createFlowCookies(cookies: SealedCookies, clock: Clock): FlowCookies {
  function read(request: PortalRequest, name: string): Flow | undefined {
    // The cast is sound: only `start` seals such a cookie.
    const flow = cookies.read(request, name) as Flow | undefined
    return flow && Math.abs(clock() - flow.startedAt) < flowLifetimeMs ? flow : undefined
  }

  return {
    start: (request, flow) => {
      const inUse = flowCookieNames.map((name) => ({ name, startedAt: read(request, name)?.startedAt ?? 0 }))
      const [oldest] = inUse.toSorted((one, other) => one.startedAt - other.startedAt)
      if (oldest) cookies.set(request, oldest.name, flow, attributes)
    },
    take: (request, state) => {
      for (const name of flowCookieNames) {
        const flow = read(request, name)
        if (!flow || !isSameText(flow.state, state)) continue
        cookies.clear(request, name, attributes)
        return flow
      }
      return undefined
    },
  }
}
