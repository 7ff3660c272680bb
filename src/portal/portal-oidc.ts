import type { OidcSignIn } from '#identity/oidc/oidc-sign-in.ts'
import type { KnownPerson } from '#identity/oidc/person.ts'
import type { OidcOptions, OidcProvider, SignInSecrets } from '#identity/oidc/provider.ts'
import type { Viewer } from '#identity/tokens/issued-tokens.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { isSameText } from '#platform/secrets/sealing.ts'
import type { Clock } from '#platform/time.ts'
import type { PortalSession } from '#store/portal.ts'
import {
  beginningCookieName,
  confirmationCookieName,
  flowCookieNames,
  takeOverCookieName,
} from './cookies.ts'
import type { PortalRequest } from './portal-request.ts'
import { createSealedCookies, type SealedCookieParts, type SealedCookies } from './sealed-cookies.ts'
import type { FrameOidc } from './views/frame.ts'

/** What the pages need to let people sign in at OpenID providers. */
export interface PortalOidc {
  /** At least one, in the order of the config. */
  readonly providers: readonly PortalProvider[]
  /** Whether people may also sign in by password. */
  readonly acceptsPasswords: boolean
  readonly flows: ReturnType<typeof createFlowCookies>
  readonly sessions: ReturnType<typeof createSessionCookies>
  readonly takeOvers: ReturnType<typeof createTakeOverCookie>
}

export interface PortalProvider extends Pick<OidcOptions, 'name' | 'label' | 'issuer'> {
  readonly provider: OidcProvider
  readonly signIn: OidcSignIn
}

export function createPortalOidc(
  ways: Pick<PortalOidc, 'providers' | 'acceptsPasswords'>,
  { sealer, cookies, clock }: SealedCookieParts,
): PortalOidc {
  const sealed = createSealedCookies(sealer, cookies)
  return {
    ...ways,
    flows: createFlowCookies(sealed, clock),
    sessions: createSessionCookies(sealed, clock),
    takeOvers: createTakeOverCookie(sealed, clock),
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

/** What the views need to know about the providers. @param path of the page, below the portal */
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

/** A sign-in in progress, kept by the browser that started it, which alone can complete it. */
export interface Flow extends SignInSecrets {
  /** The name of the provider that the browser was sent to; undefined = the one without a name. */
  readonly provider: string | undefined
  /** Where the person wants to go, as given to the sign-in page; empty = the start of the portal. */
  readonly next: string
  /** Whose owner is asked to authenticate again; undefined = it is a sign-in. */
  readonly confirms: { readonly accountId: string; readonly sessionId: string } | undefined
}

const flowLifetimeMs = 600_000

/** Lax, as the browser comes back from the provider's site. Sent only below the sign-in page. */
const flowAttributes = { sameSite: 'lax', path: '/sign-in', maxAgeS: flowLifetimeMs / 1_000 } as const

function createFlowCookies(cookies: SealedCookies, clock: Clock) {
  function read(request: PortalRequest, name: string): Flow | undefined {
    // The cast is sound: only `start` seals such a cookie.
    const flow = cookies.read(request, name) as Flow | undefined
    return flow && Math.abs(clock() - flow.startedAt) < flowLifetimeMs ? flow : undefined
  }

  return {
    /** Keeps as many sign-ins of a browser as there are names, one per tab; beyond that, the oldest is forgotten. */
    start: (request: PortalRequest, flow: Flow): void => {
      const inUse = flowCookieNames.map((name) => ({ name, startedAt: read(request, name)?.startedAt ?? 0 }))
      const [oldest] = inUse.toSorted((one, other) => one.startedAt - other.startedAt)
      if (oldest) cookies.set(request, oldest.name, flow, flowAttributes)
    },
    /** Takes the sign-in with this state, once; undefined if the browser did not start it, or too long ago. */
    take: (request: PortalRequest, state: string): Flow | undefined => {
      for (const name of flowCookieNames) {
        const flow = read(request, name)
        if (!flow || !isSameText(flow.state, state)) continue
        cookies.clear(request, name, flowAttributes)
        return flow
      }
      return undefined
    },
  }
}

/** Where a session began. */
export interface Beginning {
  /** The name of the provider; undefined = the one without a name. */
  readonly provider: string | undefined
  readonly idToken: string | undefined
}

/** How long a confirmation lasts. */
const confirmationMs = 300_000

/** What the browser keeps about a session that began at the provider; useless without the session. */
function createSessionCookies(cookies: SealedCookies, clock: Clock) {
  const confirmation = { sameSite: 'strict', maxAgeS: confirmationMs / 1_000 } as const
  const lastingFor = (ms: number) =>
    ({ sameSite: 'strict', maxAgeS: Math.max(0, Math.floor(ms / 1_000)) }) as const

  return {
    /** Remembers that a session began at a provider, with the ID token for the sign-out there. */
    begin: (
      request: PortalRequest,
      { id, createdAt, expiresAt }: PortalSession,
      { provider, idToken }: Beginning,
    ): void => {
      const attributes = lastingFor(expiresAt - createdAt)
      const value = { session: id, provider, idToken }
      const isKept = cookies.set(request, beginningCookieName, value, attributes)
      if (!isKept) cookies.set(request, beginningCookieName, { session: id, provider }, attributes)
    },
    /** Where the session began; undefined = not at a provider. The ID token is left out if it is too long. */
    find: (request: PortalRequest, { id }: PortalSession): Beginning | undefined => {
      // The cast is sound: only `begin` seals such a cookie.
      const kept = cookies.read(request, beginningCookieName) as (Beginning & { session: string }) | undefined
      return kept?.session === id ? { provider: kept.provider, idToken: kept.idToken } : undefined
    },
    /** Records that the owner of the session has authenticated again. */
    confirm: (request: PortalRequest, sessionId: string): void => {
      cookies.set(request, confirmationCookieName, { session: sessionId, at: clock() }, confirmation)
    },
    /** Whether the owner has authenticated again within the last `confirmationMs`. */
    isConfirmed: (request: PortalRequest, { id }: PortalSession): boolean => {
      const { session, at } = cookies.read(request, confirmationCookieName) ?? {}
      return session === id && typeof at === 'number' && Math.abs(clock() - at) < confirmationMs
    },
    clear: (request: PortalRequest): void => {
      for (const name of [beginningCookieName, confirmationCookieName])
        cookies.clear(request, name, lastingFor(0))
    },
  }
}

/**
 * A person whom a provider has just authenticated, and who is asked whether to take over an account. The ID token is
 * left out if it is too long.
 */
interface TakeOver extends Beginning {
  readonly person: KnownPerson
  /** Where the person wants to go; empty = the start of the portal. */
  readonly next: string
}

/** Lasts as long as a sign-in. */
const takeOverAttributes = { ...flowAttributes, sameSite: 'strict' } as const

function createTakeOverCookie(cookies: SealedCookies, clock: Clock) {
  return {
    set: (request: PortalRequest, takeOver: TakeOver): void => {
      const value = { ...takeOver, at: clock() }
      const isKept = cookies.set(request, takeOverCookieName, value, takeOverAttributes)
      // Without the ID token, the provider asks which session to sign out.
      if (!isKept)
        cookies.set(request, takeOverCookieName, { ...value, idToken: undefined }, takeOverAttributes)
    },
    read: (request: PortalRequest): TakeOver | undefined => {
      // The cast is sound: only `set` seals such a cookie.
      const value = cookies.read(request, takeOverCookieName) as (TakeOver & { at: number }) | undefined
      return value && Math.abs(clock() - value.at) < flowLifetimeMs ? value : undefined
    },
    clear: (request: PortalRequest): void => cookies.clear(request, takeOverCookieName, takeOverAttributes),
  }
}
