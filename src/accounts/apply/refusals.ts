import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import {
  type AccountChanges,
  type AccountStore,
  adminRole,
  isActiveAdmin,
  readAllAccounts,
} from '#store/accounts.ts'
import type { Actor } from '#store/audit-entry.ts'
import type { Step } from './change.ts'
import { batchSize } from './entries.ts'

// Finds what the actions that make the changes would refuse, before anything is changed.

/**
 * @param mayChangeOwn whether the actor may change their own account at all; nobody may disable or demote it
 * @throws GatehouseError `own-account`
 */
export function assertOwnKept(steps: readonly Step[], by: Actor, mayChangeOwn: boolean): void {
  if (by.kind !== 'account') return
  const own = steps.filter(({ work }) => 'id' in work && work.id === by.id)
  if (own.some((step) => takesAccess(step))) throw new GatehouseError('own-account')
  if (!mayChangeOwn && !own.every(isMark)) throw new GatehouseError('own-account')
}

/** Whether a step only records which file lists the account. */
function isMark({ change, work }: Step): boolean {
  return work.kind === 'update-account' && change.fields.every(({ field }) => field === 'managedBy')
}

function takesAccess({ work }: Step): boolean {
  return (
    work.kind === 'update-account' && (work.changes.isDisabled === true || work.changes.role !== undefined)
  )
}

/** @throws GatehouseError `last-admin` if nobody who can manage accounts would be left */
export async function assertAdminLeft(
  steps: readonly Step[],
  store: Pick<AccountStore, 'listAccounts'>,
): Promise<void> {
  const changes = new Map<string, AccountChanges>()
  for (const { work } of steps) {
    if (
      work.kind === 'create-account' &&
      isActiveAdmin({ role: work.input.role, isDisabled: work.input.isDisabled === true })
    )
      return
    if (work.kind === 'update-account') changes.set(work.id, work.changes)
  }
  const mayTake = [...changes.values()].some(
    ({ isDisabled, role = adminRole }) => isDisabled === true || role !== adminRole,
  )
  if (!mayTake) return
  let isThereAdmin = false
  for await (const page of readAllAccounts(store, batchSize)) {
    if (page.some((account) => isActiveAdmin({ ...account, ...changes.get(account.id) }))) return
    isThereAdmin ||= page.some(isActiveAdmin)
  }
  if (isThereAdmin) throw new GatehouseError('last-admin')
}
