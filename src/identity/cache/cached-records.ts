import { compactDigest } from '#platform/secrets/keys.ts'
import type { Account } from '#store/accounts.ts'
import { keyQuotaSubject } from '#store/quotas.ts'
import type { SecretKey } from '#store/secret-keys.ts'
import type { BlockedSubject, Session } from '#store/sessions.ts'
import type { CachedAccount, CachedKey, CachedSession, CachedSubject } from '../directory.ts'
import type { Profile } from '../principal.ts'

/** The part of an account that decisions need. */
export function toCachedAccount(account: Account | undefined): CachedAccount | undefined {
  if (!account) return undefined
  const { role, plan, email, firstName, lastName, isVerified, isDisabled, sessionEpoch, roleEpoch } = account
  const portalEpoch = account.portal.epoch
  const profile = { email, firstName, lastName, isVerified }
  const keys = account.secretKeys.map((key) => toCachedKey(key, account, profile))
  return { isDisabled, sessionEpoch, roleEpoch, portalEpoch, role, plan, profile, keys }
}

function toCachedKey(key: SecretKey, account: Account, profile: Profile): CachedKey {
  const { id, digest, expiresAt, revokedAt, name, scopes, addresses, quota } = key
  const principal = {
    accountId: account.id,
    key: name,
    scopes,
    addresses,
    plan: account.plan,
    quota: quota && {
      limit: quota.limit,
      per: quota.per,
      subject: keyQuotaSubject(account.id, quota),
    },
    issuer: undefined,
    role: account.role,
    scheme: 'secretKey',
    sessionId: undefined,
    profile,
  } as const
  return { id, digest: compactDigest(digest), expiresAt, revokedAt, principal }
}

export const endedSession: CachedSession = { isEnded: true }

/** The part of a session that decisions need. */
export function toCachedSession(session: Session | undefined): CachedSession | undefined {
  if (!session) return undefined
  const { accountId, sessionEpoch, keyId, expiresAt, end } = session
  return end === undefined ? { accountId, sessionEpoch, keyId, expiresAt, isEnded: false } : endedSession
}

/** Two shared objects, as there may be many principals. */
const blocked: CachedSubject = { isBlocked: true }
const notBlocked: CachedSubject = { isBlocked: false }

export function toCachedSubject(found: BlockedSubject | undefined): CachedSubject {
  return found ? blocked : notBlocked
}
