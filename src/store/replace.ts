import type { AuditEntry } from './audit.ts'
import type { Account, AccountUpdate } from './store.ts'

/** What came of an attempt to make something else of an account. */
export type Replacement = AccountUpdate | { readonly kind: 'refused' }

/** Saves what becomes of an account, if anything, in one step with what it was made from. */
export type Replace = (
  id: string,
  become: (account: Account) => Account | undefined,
  audit?: AuditEntry,
) => Promise<Replacement>
