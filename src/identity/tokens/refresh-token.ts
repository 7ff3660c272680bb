import { createHmac } from 'node:crypto'
import { isSameText } from '#platform/secrets/constant-time.ts'
import { randomText, secretPrefixes, sessionIdLength, sessionIdPattern } from '#platform/secrets/format.ts'
import { deriveKeys, type KeySource } from '#platform/secrets/sealing.ts'

/**
 * A refresh token is its session, the number of the rotation, and a MAC over both:
 *
 *     grt_<session ID>_<generation>_<HMAC-SHA256>
 *
 * It need not be stored, a forged one costs no look-up, and the current one can be issued again.
 */
export interface RefreshTokens {
  create(sessionId: string, generation: number): string
  /** undefined where the text is not one of our tokens. */
  parse(text: string): { readonly sessionId: string; readonly generation: number } | undefined
}

const prefix = secretPrefixes.refreshToken
const tokenPattern = new RegExp(`^${prefix}_(${sessionIdPattern})_([1-9][0-9]{0,8})_([0-9A-Za-z_-]{43})$`)

export function createSessionId(): string {
  return randomText(sessionIdLength)
}

export function createRefreshTokens(sealingKeys: KeySource): RefreshTokens {
  const keys = deriveKeys(sealingKeys, 'refresh-token')

  /** The joined text is unambiguous: the session ID has a fixed length and no `_`. */
  function macOf(key: Uint8Array, sessionId: string, generation: string): string {
    return createHmac('sha256', key).update(`${sessionId}_${generation}`).digest('base64url')
  }

  return {
    create: (sessionId, generation) =>
      `${prefix}_${sessionId}_${generation}_${macOf(keys()[0], sessionId, String(generation))}`,
    parse: (text) => {
      const [, sessionId, generation, mac] = tokenPattern.exec(text) ?? []
      if (sessionId === undefined || generation === undefined || mac === undefined) return undefined
      // Compared as text: another encoding of the same bits is not the same token.
      const isOurs = keys().some((key) => isSameText(macOf(key, sessionId, generation), mac))
      return isOurs ? { sessionId, generation: Number(generation) } : undefined
    },
  }
}
