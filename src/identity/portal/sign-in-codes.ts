import { parseJsonObject } from '#platform/json.ts'
import { randomText } from '#platform/secrets/key-format.ts'
import { isSameText, type Sealer } from '#platform/secrets/sealing.ts'
import type { Clock, EpochMs } from '#platform/time.ts'
import type { Visitor } from '#store/sessions.ts'
import type { RateLimiter } from '../limits/rate-limiter.ts'
import type { IssuedTokens, Viewer } from '../tokens/issued-tokens.ts'
import type { PortalSessionIds, PortalSessions } from './portal-sessions.ts'

/** What a sign-in code carries from the portal's own host to the host of a page. */
export interface SignInCode extends PortalSessionIds {
  /** The only host that accepts it, in lower case. */
  readonly hostName: string
  /** The path of the page. */
  readonly to: string
  /** The digest of the key of the browser that began the visit. */
  readonly challenge: string
  readonly expiresAt: EpochMs
  /** Unique. */
  readonly id: string
}

/**
 * Codes that grant a portal session to one browser, at one host, once, within a minute. They are sealed: whoever
 * intercepts one learns nothing, and cannot use it without the browser's key.
 */
export interface SignInCodes {
  create(viewer: Viewer, page: Pick<SignInCode, 'hostName' | 'to' | 'challenge'>): string
  /** @returns undefined if this gateway has not made it for this host */
  read(text: string, hostName: string): SignInCode | undefined
  /**
   * Tokens of the session, or the reason why there are none, in words for the log.
   * @param challenge of this browser's key; undefined = it has none
   * @throws GatehouseError `store-unavailable`
   */
  redeem(code: SignInCode, challenge: string | undefined, visitor: Visitor): Promise<IssuedTokens | string>
}

interface SignInCodesOptions {
  readonly sealer: Sealer
  readonly sessions: Pick<PortalSessions, 'resume'>
  /** Counts the uses of a code, across all instances. */
  readonly limiter: Pick<RateLimiter, 'take'>
  readonly clock: Clock
}

const lifetimeMs = 60_000
/** Uses are counted for longer than a code lives, so that the clocks of two instances may differ. */
const use = { limit: 1, perMs: 10 * lifetimeMs }
const purpose = 'sign-in code'
const idLength = 22
const codeLengthMax = 4_000

export function createSignInCodes({ sealer, sessions, limiter, clock }: SignInCodesOptions): SignInCodes {
  function create({ account, session }: Viewer, page: Parameters<SignInCodes['create']>[1]): string {
    const code: SignInCode = {
      accountId: account.id,
      sessionId: session.id,
      ...page,
      expiresAt: clock() + lifetimeMs,
      id: randomText(idLength),
    }
    return Buffer.from(sealer.seal(JSON.stringify(code), purpose)).toString('base64url')
  }

  function read(text: string, hostName: string): SignInCode | undefined {
    if (text.length > codeLengthMax) return undefined
    const unsealed = sealer.unseal(Buffer.from(text, 'base64url'), purpose)
    // The cast is sound: only `create` seals for this purpose.
    const code = unsealed === undefined ? undefined : (parseJsonObject(unsealed) as SignInCode | undefined)
    return code?.hostName === hostName ? code : undefined
  }

  const redeem: SignInCodes['redeem'] = async (code, challenge, visitor) => {
    const now = clock()
    if (now >= code.expiresAt || now < code.expiresAt - 2 * lifetimeMs) return 'it has expired'
    // Before it is counted, so that nobody else can use it up.
    if (!isSameText(code.challenge, challenge)) return 'another browser began the visit'
    const { isAllowed } = await limiter.take('sign-in-code', code.id, use)
    if (!isAllowed) return 'it was used before'
    return (await sessions.resume(code, visitor)) ?? 'the session is over'
  }

  return { create, read, redeem }
}
