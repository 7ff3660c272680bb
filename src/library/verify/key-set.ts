import { createRemoteJWKSet, errors, type JWTVerifyGetKey } from 'jose'
import { AssertionError } from './assertion-error.ts'

/** The keys of a gateway. */
export interface KeySet {
  readonly find: JWTVerifyGetKey
  /** @throws if they cannot be read now */
  read(): Promise<void>
}

export interface KeySetOptions {
  readonly jwksUrl: string | URL
  readonly keysMaxAgeMs?: number
  readonly cooldownMs?: number
  readonly timeoutMs?: number
  readonly clock: () => number
}

/**
 * The keys of a gateway, read when they are first needed. An unknown key causes them to be read again, so that a
 * rotation is followed, but not within the cooldown, so that invented key names cost nothing. They are read again in
 * the background once they are old; while the gateway cannot be reached, the known keys are kept.
 */
export function createKeySet(options: KeySetOptions): KeySet {
  const { jwksUrl, keysMaxAgeMs = 600_000, cooldownMs = 30_000, timeoutMs = 5_000, clock } = options
  if (!URL.canParse(jwksUrl)) throw new TypeError('jwksUrl must be a URL')
  // Never expires by itself, so that an outage of the gateway is not one of the backend.
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
