import type { CreatedAccount } from '../accounts/accounts.ts'
import type { Account } from '../store/store.ts'
import { card } from './print.ts'

/** An account as commands print it in JSON. */
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
    ...{ id, email, firstName, lastName, role, isVerified },
    disabled: isDisabled,
    createdAt: new Date(createdAt).toISOString(),
  }
}

/** A new account with its keys, in JSON. */
export function createdData({ account, secretKey, apiKey }: CreatedAccount) {
  const { id, email, firstName, lastName, role, isVerified } = account
  return { id, email, firstName, lastName, role, isVerified, secretKey, apiKey }
}

/** An account for people. */
export function accountCard(account: Account): string[] {
  const { id, email, firstName, lastName, role, isVerified, isDisabled, createdAt } = account
  return card({
    ID: id,
    'E-mail': email,
    Name: `${firstName} ${lastName}`.trim() || '-',
    Role: role,
    Verified: isVerified ? 'yes' : 'no',
    Disabled: isDisabled ? 'yes' : 'no',
    Created: new Date(createdAt).toISOString(),
  })
}
