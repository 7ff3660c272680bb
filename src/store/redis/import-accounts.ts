import { GatehouseError } from '../../errors/gatehouse-error.ts'
import { errorMessage } from '../../platform/system-error.ts'
import type { Account } from '../account.ts'
import type { AccountBatch, AccountCreation } from '../accounts.ts'
import type { Actor, AuditEntry } from '../audit-entry.ts'

/** What an import is made of: verbs of one batch and of one account. */
export interface ImportVerbs {
  create(accounts: readonly Account[], audit: readonly AuditEntry[]): Promise<AccountCreation>
  find(id: string): Promise<Account | undefined>
  remove(id: string, audit?: AuditEntry): Promise<boolean>
}

/** How many accounts are deleted at the same time. */
const undoBatchSize = 100

/**
 * Creates accounts batch by batch: one script for a million would block Redis for minutes. Where a batch cannot be
 * created, those before it are deleted again.
 * @throws what the batches throw; GatehouseError `store-unavailable` where not all could be deleted
 */
export async function importAccounts(
  batches: AsyncIterable<AccountBatch>,
  verbs: ImportVerbs,
): Promise<AccountCreation> {
  // A text for each batch: IDs by themselves would take twice the memory.
  const begun: string[] = []
  let actor: Actor | undefined
  try {
    for await (const { accounts, audit } of batches) {
      actor = audit[0]?.actor
      const ids = accounts.map(({ id }) => id).join(' ')
      // Before it is created: an error may leave it unconfirmed.
      begun.push(ids)
      const creation = await verbs.create(accounts, audit)
      if (creation.kind === 'created') continue
      begun.pop()
      await undo(begun, actor, verbs)
      return creation
    }
    return { kind: 'created' }
  } catch (error) {
    await undo(begun, actor, verbs)
    throw error
  }
}

async function undo(begun: readonly string[], actor: Actor | undefined, verbs: ImportVerbs): Promise<void> {
  try {
    for (const ids of begun.toReversed()) {
      const all = ids.split(' ')
      for (let start = 0; start < all.length; start += undoBatchSize) {
        await Promise.all(all.slice(start, start + undoBatchSize).map((id) => removeOne(id, actor, verbs)))
      }
    }
  } catch (cause) {
    const message = `accounts of the import that could not be finished remain, with their keys: ${errorMessage(cause)}`
    throw new GatehouseError('store-unavailable', { cause: new Error(message, { cause }) })
  }
}

async function removeOne(id: string, actor: Actor | undefined, { find, remove }: ImportVerbs): Promise<void> {
  const account = await find(id)
  if (!account) return
  const target = { id, email: account.email }
  await remove(id, actor && { at: Date.now(), actor, action: 'account-deleted', target, details: {} })
}
