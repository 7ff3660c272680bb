import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Account } from '#store/account.ts'
import { keyOfSession, portalEpochIn, unlimited, validUntil } from '#store/secret-keys.ts'
import type { Session } from '#store/sessions.ts'
import type { TokenLimits } from './access-token.ts'

/**
 * What its key is limited to; a session of the portal has none, and is limited by its end.
 * @throws GatehouseError `session-revoked` where the key is gone
 */
export function limitsOf(
  account: Account,
  { keyId, expiresAt }: Pick<Session, 'keyId' | 'expiresAt'>,
): TokenLimits {
  if (portalEpochIn(keyId) !== undefined) return { scopes: unlimited, validUntil: expiresAt }
  const key = keyOfSession(account.secretKeys, keyId)
  if (!key) throw new GatehouseError('session-revoked')
  return { scopes: key.scopes, validUntil: validUntil(key) }
}

/**
 * The same, narrowed to what a client of OAuth has asked for (RFC 6749 3.3).
 * @param asked undefined = all that the key has
 * @throws GatehouseError `scope-forbidden` where the key has not all of them
 */
export function narrowed(limits: TokenLimits, asked: readonly string[] | undefined): TokenLimits {
  if (asked === undefined) return limits
  const isWithin = limits.scopes.length === 0 || asked.every((scope) => limits.scopes.includes(scope))
  if (!isWithin) throw new GatehouseError('scope-forbidden')
  return { ...limits, scopes: asked }
}
