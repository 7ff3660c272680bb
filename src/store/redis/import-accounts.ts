import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { errorMessage } from '#platform/errors/operator-error.ts'
import {
  type Account,
  type AccountBatch,
  type AccountCreation,
  type AccountStore,
  isActiveAdmin,
} from '../accounts.ts'
import type { Actor, AuditEntry } from '../audit-entry.ts'

/** The verbs that an import uses, for one batch and for one account. */
type ImportVerbs = Pick<AccountStore, 'createAccounts' | 'findAccount' | 'deleteAccount'>

/** How many accounts are deleted at the same time. */
const undoBatchSize = 100

/**
 * Creates accounts batch by batch, as one script for a million would block Redis for minutes. If a batch cannot be
 * created, those before it are deleted again. The Admins, who are few, come last and in one step: an Admin whose
 * creation may still be undone must not permit the removal of another Admin.
 * @throws what the batches throw; GatehouseError `store-unavailable` if not all could be deleted
 */
export async function importAccounts(
  batches: AsyncIterable<AccountBatch>,
  verbs: ImportVerbs,
): Promise<AccountCreation> {
  // One text per batch, as separate IDs would take twice the memory.
  const begun: string[] = []
  let actor: Actor | undefined
  try {
    for await (const { accounts, audit } of adminsLast(batches)) {
      actor = audit[0]?.actor ?? actor
      const ids = accounts.map(({ id }) => id).join(' ')
      // Before the creation, whose outcome may be unknown after an error.
      begun.push(ids)
      const creation = await verbs.createAccounts(accounts, audit)
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

async function* adminsLast(batches: AsyncIterable<AccountBatch>): AsyncGenerator<AccountBatch> {
  const admins: Account[] = []
  const adminAudit: AuditEntry[] = []
  for await (const { accounts, audit } of batches) {
    const { admin = [], other = [] } = Object.groupBy(accounts, (one) =>
      isActiveAdmin(one) ? 'admin' : 'other',
    )
    const ids = new Set(admin.map(({ id }) => id))
    admins.push(...admin)
    adminAudit.push(...audit.filter(({ target }) => target && ids.has(target.id)))
    yield { accounts: other, audit: audit.filter(({ target }) => !target || !ids.has(target.id)) }
  }
  if (admins.length > 0) yield { accounts: admins, audit: adminAudit }
}

async function undo(begun: readonly string[], actor: Actor | undefined, verbs: ImportVerbs): Promise<void> {
  let isComplete = true
  try {
    for (const ids of begun.toReversed()) {
      const all = ids.split(' ')
      for (let start = 0; start < all.length; start += undoBatchSize) {
        const some = all.slice(start, start + undoBatchSize)
        const removed = await Promise.all(some.map((id) => removeOne(id, actor, verbs)))
        isComplete &&= removed.every(Boolean)
      }
    }
    if (!isComplete) throw new Error('one of them is the last Admin by now')
  } catch (cause) {
    const message = `accounts of the import that could not be finished remain, with their keys: ${errorMessage(cause)}`
    throw new GatehouseError('store-unavailable', { cause: new Error(message, { cause }) })
  }
}

/** @returns false where it has to stay */
async function removeOne(id: string, actor: Actor | undefined, verbs: ImportVerbs): Promise<boolean> {
  const account = await verbs.findAccount(id)
  if (!account) return true
  const target = { id, email: account.email }
  const entry = actor && ({ at: Date.now(), actor, action: 'account-deleted', target, details: {} } as const)
  return (await verbs.deleteAccount(id, entry)) !== 'last-admin'
}
