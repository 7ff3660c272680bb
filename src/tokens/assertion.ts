import { createJwtSigner, perKey } from './jwt.ts'
import type { Keyring } from './keyring.ts'
import type { SigningKey } from './signing-keys.ts'

/** `typ` of an assertion: an access token has another, so that neither passes for the other. */
const assertionType = 'gatehouse-assertion+jwt'

/** Whom an assertion is about. */
export interface AssertionSubject {
  readonly accountId: string
  readonly role: string
  readonly scheme: string
  /** Of a bearer token only. */
  readonly sessionId: string | undefined
}

export interface KnownAssertion {
  readonly text: string
  readonly key: SigningKey
  /** Until when it may be given out again, in milliseconds since 1970. */
  readonly usableUntil: number
}

export interface Assertions {
  /**
   * Says to one upstream who is calling, as a JWT that is good for at least half of the lifetime.
   * @throws GatehouseError `store-unavailable` while there is no signing key
   */
  of(subject: AssertionSubject, upstream: string): string
}

export interface AssertionsOptions {
  readonly keyring: Pick<Keyring, 'signer'>
  /** By whom and for whom it is; may forget any at any time. */
  readonly known: {
    get(name: string): KnownAssertion | undefined
    set(name: string, assertion: KnownAssertion): void
  }
  readonly issuer: string
  readonly lifetimeMs: number
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

/**
 * Assertions, signed once for many requests: a signature costs more than all the rest of a request. Kept by all that
 * they say, so whoever has another role or session gets another one.
 */
export function createAssertions(options: AssertionsOptions): Assertions {
  const { keyring, known, issuer, lifetimeMs, clock } = options
  const signerOf = perKey((key) => createJwtSigner(key, assertionType))

  function sign({ accountId, role, scheme, sessionId }: AssertionSubject, upstream: string, key: SigningKey) {
    const now = clock()
    const text = signerOf(key)({
      iss: issuer,
      aud: upstream,
      sub: accountId,
      role,
      scheme,
      ...(sessionId !== undefined && { sid: sessionId }),
      iat: Math.floor(now / 1_000),
      exp: Math.ceil((now + lifetimeMs) / 1_000),
    })
    return { text, key, usableUntil: now + lifetimeMs / 2 }
  }

  return {
    of: (subject, upstream) => {
      const now = clock()
      // Asked each time: one by a key that has been retired, or replaced, is not given out again.
      const key = keyring.signer(now)
      const { accountId, role, scheme, sessionId = '' } = subject
      // The role last: it alone may hold anything.
      const name = `${upstream} ${accountId} ${scheme} ${sessionId} ${role}`
      const before = known.get(name)
      if (before?.key === key && now <= before.usableUntil) return before.text
      const assertion = sign(subject, upstream, key)
      known.set(name, assertion)
      return assertion.text
    },
  }
}
