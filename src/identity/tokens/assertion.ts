import { memoizeByObject } from '#platform/memoize.ts'
import type { Clock, EpochMs } from '#platform/time.ts'
import type { Principal } from '../decision.ts'
import { createJwtSigner } from './jwt.ts'
import type { Keyring } from './keyring.ts'
import type { SigningKey } from './signing-keys.ts'

/** The `typ` of an assertion differs from that of an access token, so that neither is accepted as the other. */
const assertionType = 'gatehouse-assertion+jwt'

/** The caller whom an assertion is about. */
interface AssertionSubject extends Pick<Principal, 'accountId' | 'role' | 'scheme' | 'sessionId' | 'scopes'> {
  /** The foreign issuer of its token, whose name is also part of the ID; undefined = the caller is an account. */
  readonly issuer?: string | undefined
}

/** The state of the change log when an assertion was issued, for backends that follow revocations. */
interface Stamp {
  /** A position in the change log: no change of the caller up to it is missing. */
  readonly position: number
  /** Positions of two eras cannot be compared. */
  readonly era: object
}

export interface AssertionStamps {
  stamp(accountId: string): Stamp
  /** Whether the caller has not changed since the stamp was made. */
  covers(stamp: Stamp, accountId: string): boolean
}

export interface CachedAssertion {
  readonly text: string
  readonly key: SigningKey
  /** Until when it may be reused. */
  readonly usableUntil: EpochMs
  readonly stamp: Stamp | undefined
}

/**
 * A JWT that identifies the caller to one upstream, valid for at least another half of the lifetime.
 * @throws GatehouseError `store-unavailable` while there is no signing key
 */
type IssueAssertion = (subject: AssertionSubject, upstream: string) => string

interface AssertionIssuerOptions {
  readonly keyring: Pick<Keyring, 'signer'>
  /** Assertions by name; it may evict any entry at any time. */
  readonly cache: {
    get(name: string): CachedAssertion | undefined
    set(name: string, assertion: CachedAssertion): void
  }
  readonly issuer: string
  readonly lifetimeMs: number
  /** undefined = there is no feed of revocations, and no claim `rev`. */
  readonly stamps?: AssertionStamps | undefined
  readonly clock: Clock
}

/**
 * Creates assertions, each signed once for many requests, as a signature costs more than the rest of a request. The
 * cache key contains everything they assert, so that another role or session gets another assertion.
 */
export function createAssertionIssuer(options: AssertionIssuerOptions): IssueAssertion {
  const { keyring, cache, issuer, lifetimeMs, stamps, clock } = options
  const signerOf = memoizeByObject((key: SigningKey) => createJwtSigner(key, assertionType))

  function sign(
    { accountId, role, scheme, sessionId, scopes, issuer: foreign }: AssertionSubject,
    upstream: string,
    key: SigningKey,
  ) {
    const now = clock()
    const stamp = stamps?.stamp(accountId)
    const text = signerOf(key)({
      iss: issuer,
      aud: upstream,
      sub: accountId,
      role,
      scheme,
      ...(sessionId !== undefined && { sid: sessionId }),
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
      ...(foreign !== undefined && { issuer: foreign }),
      ...(stamp && { rev: stamp.position }),
      iat: Math.floor(now / 1_000),
      exp: Math.ceil((now + lifetimeMs) / 1_000),
    })
    return { text, key, usableUntil: now + lifetimeMs / 2, stamp }
  }

  function isUnchanged(stamp: Stamp | undefined, accountId: string): boolean {
    return stamp === undefined || stamps?.covers(stamp, accountId) === true
  }

  return (subject, upstream) => {
    const now = clock()
    // Looked up each time, as an assertion signed with a retired or replaced key must not be reused.
    const key = keyring.signer(now)
    const { accountId, role, scheme, sessionId = '', scopes } = subject
    // No scope contains a comma. The role is last, as only it may contain any character.
    const name = `${upstream} ${accountId} ${scheme} ${sessionId} ${scopes.join(',')} ${role}`
    const cached = cache.get(name)
    if (cached?.key === key && now <= cached.usableUntil && isUnchanged(cached.stamp, accountId))
      return cached.text
    const assertion = sign(subject, upstream, key)
    cache.set(name, assertion)
    return assertion.text
  }
}
