import { createRemoteJWKSet, errors, type JWTVerifyGetKey } from 'jose'
import { toHttpUrl } from '../http-url.ts'
import { AssertionError } from './assertion-error.ts'

/** The keys of a gateway. */
export interface KeySet {
  readonly find: JWTVerifyGetKey
  /** @throws if they cannot be read now */
  read(): Promise<void>
}

export interface KeySetOptions {
  /** Where the gateway publishes its keys: `https://…/.well-known/jwks.json`. */
  readonly jwksUrl: string | URL
  /**
   * After how long the keys are read again, in milliseconds; default: 10 minutes. If they cannot be read, the known
   * ones are kept.
   */
  readonly keysMaxAgeMs?: number
  /**
   * For how long after reading the keys an unknown one does not cause them to be read again, in milliseconds; default:
   * 30 s.
   */
  readonly cooldownMs?: number
  /** How long reading the keys may take, in milliseconds; default: 5 s. */
  readonly timeoutMs?: number
  /** Milliseconds since 1970; default: the system's clock. */
  readonly clock?: () => number
}

/**
 * The keys of a gateway, read when they are first needed. An unknown key causes them to be read again, so that a
 * rotation is followed, but not within the cooldown, so that invented key names cost nothing. They are read again in
 * the background once they are old; while the gateway cannot be reached, the known keys are kept.
 */
export function createKeySet(options: KeySetOptions): KeySet {
  const {
    jwksUrl,
    keysMaxAgeMs = 600_000,
    cooldownMs = 30_000,
    timeoutMs = 5_000,
    clock = Date.now,
  } = options
  // Never expires by itself, so that an outage of the gateway is not one of the backend.
  const remote = createRemoteJWKSet(toHttpUrl(jwksUrl, 'jwksUrl'), {
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

  const find: JWTVerifyGetKey = async (header, token) => {
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

  return { find, read }
}

/** Whether an error is about the key that the assertion names, rather than about reading the keys. */
function isAboutKey(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError) || error instanceof errors.JWKSTimeout) return false
  return error.code !== errors.JOSEError.code
}
