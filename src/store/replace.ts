import type { Account } from './account.ts'
import type { AccountUpdate } from './accounts.ts'
import type { AuditEntry } from './audit-entry.ts'

/** The outcome of replacing an account. */
export type Replacement = AccountUpdate | { readonly kind: 'refused' }

/** Saves what `become` returns, if anything, only if the account has not changed since it was read. */
export type Replace = (
  id: string,
  transform: (account: Account) => Account | undefined,
  audit?: AuditEntry,
) => Promise<Replacement>
