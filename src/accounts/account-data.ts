import type { Account } from '../store/account.ts'
import type { Session } from '../store/sessions.ts'
import type { CreatedAccount } from './accounts.ts'

/** An account as commands and the admin API show it. */
export function accountData({
  id,
  email,
  firstName,
  lastName,
  role,
  isVerified,
  isDisabled,
  createdAt,
}: Account) {
  return {
    id,
    email,
    firstName,
    lastName,
    role,
    isVerified,
    disabled: isDisabled,
    createdAt: new Date(createdAt).toISOString(),
  }
}

/**
 * A new account with its keys.
 * @param setupUrl undefined = none: no portal, a password is set, or it cannot be created now
 */
export function createdData({ account, secretKey, apiKey }: CreatedAccount, setupUrl?: string) {
  const { id, email, firstName, lastName, role, isVerified } = account
  return {
    id,
    email,
    firstName,
    lastName,
    role,
    isVerified,
    secretKey,
    apiKey,
    ...(setupUrl !== undefined && { setupUrl }),
  }
}

/** A session of access and refresh tokens. */
export function sessionData({
  id,
  createdAt,
  rotatedAt,
  expiresAt,
  generation,
  address,
  userAgent,
}: Session) {
  return {
    id,
    createdAt: new Date(createdAt).toISOString(),
    refreshedAt: new Date(rotatedAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
    refreshes: generation - 1,
    address,
    client: userAgent,
  }
}
