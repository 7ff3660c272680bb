import { fullName } from '#accounts/account-input.ts'
import type { Account } from '#store/account.ts'
import { fieldLines } from './print.ts'

/** An account as text. */
export function accountLines(account: Account): string[] {
  const { id, email, role, isVerified, isDisabled, plan, createdAt } = account
  return fieldLines({
    ID: id,
    'E-mail': email,
    Name: fullName(account) || '-',
    Role: role,
    Verified: isVerified ? 'yes' : 'no',
    Disabled: isDisabled ? 'yes' : 'no',
    Plan: plan ?? '-',
    Created: new Date(createdAt).toISOString(),
  })
}
