import { createAccounts } from '#accounts/accounts.ts'
import { createAuditEntryFactory } from '#accounts/audit-log.ts'
import { createDefaultKeys } from '#accounts/keys/default-keys.ts'
import type { KeyOptions } from '#accounts/keys/make-key.ts'
import type { Store } from '#store/store.ts'

/** What can be done to accounts of a store and their keys, in the name of the system. */
export function actsOn(store: Store, options: KeyOptions) {
  const by = { kind: 'system', channel: 'system' } as const
  const accounts = createAccounts({ ...options, store, by, planNames: [] })
  const keys = createDefaultKeys({
    ...options,
    store,
    accounts,
    entry: createAuditEntryFactory(by, options.clock),
  })
  return { accounts, keys }
}
