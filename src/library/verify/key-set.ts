import { createRemoteJWKSet, errors, type JWTVerifyGetKey } from 'jose'
import { AssertionError } from './assertion-error.ts'

export interface KeySetOptions {
  readonly jwksUrl: string | URL
  readonly keysMaxAgeMs?: number
  readonly cooldownMs?: number
  readonly timeoutMs?: number
  readonly clock: () => number
}

/**
 * The keys of a gateway, read when they are first needed. An unknown key makes them read again, so that a rotation is
 * followed; not within the cooldown, so that made-up names of keys cost nothing. Read again in the background once they
 * are old; while the gateway cannot be reached the known keys stay.
 */
export function createKeySet(options: KeySetOptions): JWTVerifyGetKey {
  const { jwksUrl, keysMaxAgeMs = 600_000, cooldownMs = 30_000, timeoutMs = 5_000, clock } = options
  // Never too old by itself: then an outage of the gateway would be one of the backend.
  const remote = createRemoteJWKSet(new URL(jwksUrl), {
    cacheMaxAge: Number.POSITIVE_INFINITY,
    cooldownDuration: cooldownMs,
    timeoutDuration: timeoutMs,
  })
  let readAt = Number.NEGATIVE_INFINITY
  let failedAt = Number.NEGATIVE_INFINITY

  /** @throws if they cannot be read */
  async function read(): Promise<void> {
    try {
      await remote.reload()
      readAt = clock()
    } catch (error) {
      failedAt = clock()
      throw error
    }
  }

  return async function findKey(header, token) {
    const now = clock()
    const isOld = now - readAt > keysMaxAgeMs
    const mayTry = now - failedAt > Math.min(cooldownMs, 1_000)
    if (remote.jwks() === undefined) {
      if (!mayTry) throw new AssertionError('keys-unavailable')
      await read().catch((cause: unknown) => {
        throw new AssertionError('keys-unavailable', cause)
      })
    } else if (isOld && mayTry) read().catch(() => {})
    try {
      return await remote(header, token)
    } catch (cause) {
      throw isAboutKey(cause) ? cause : new AssertionError('keys-unavailable', cause)
    }
  }
}

/** Whether an error is about the key that the assertion names, and not about reading the keys. */
function isAboutKey(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError) || error instanceof errors.JWKSTimeout) return false
  return error.code !== errors.JOSEError.code
}
