import type { FieldError } from '#platform/errors/gatehouse-error.ts'
import { type Account, type AccountChanges, type AccountStore, adminRole } from '#store/accounts.ts'
import type { Actor } from '#store/audit-entry.ts'
import type { ImportedKeyStore } from '#store/key-store.ts'
import { type AccountInput, accountDefaults } from '../account-input.ts'
import { changeActions, fieldChanges, type Step } from './change.ts'
import { assertNoErrors, within } from './desired.ts'
import { inBatches } from './entries.ts'
import { digestIn, planKeys } from './plan-keys.ts'
import { type Prune, planPrune } from './prune.ts'
import { assertAdminLeft, assertOwnKept } from './refusals.ts'
import { type DesiredAccount, type DesiredState, defaultStateName } from './state-schema.ts'

export interface PlanStore
  extends Pick<AccountStore, 'findAccountByEmail' | 'listAccounts'>,
    Pick<ImportedKeyStore, 'findImportedKey'> {}

interface PlanOptions {
  readonly store: PlanStore
  readonly by: Actor
  /** Whether the actor may change their own account and its keys at all; nobody may disable or demote it. */
  readonly mayChangeOwn: boolean
  /** undefined = what the file does not list stays as it is. */
  readonly prune: Prune | undefined
  readonly keysMax: number
  readonly now: number
}

interface ApplyPlan {
  /** In the order in which they must be made. */
  readonly steps: readonly Step[]
  /** How many accounts of the file need no change, nor do their keys. */
  readonly unchanged: number
}

/**
 * Plans the changes that bring the store to the state that a file describes. Changes nothing itself.
 * @param state without the errors that `findStateErrors` finds
 * @throws GatehouseError `request-invalid` with every error, `own-account`, `last-admin`
 */
export async function planChanges(state: DesiredState, options: PlanOptions): Promise<ApplyPlan> {
  const { store, by, mayChangeOwn, prune, keysMax, now } = options
  const { name = defaultStateName, accounts } = state
  const entries = await inBatches(accounts, async (desired) => ({
    desired,
    account: await store.findAccountByEmail(desired.email),
  }))
  const holders = await findHolders(accounts, store)
  const errors: FieldError[] = []
  let unchanged = 0
  const steps = entries.flatMap(({ desired, account }, index) => {
    const place = `accounts.${index}`
    const keys = planKeys(desired.email, desired.keys ?? [], { account, holders, keysMax, now })
    errors.push(...within(place, keys.errors))
    const own = account ? planUpdate(desired, account, name) : [planCreation(desired, name)]
    const planned = [...own, ...keys.steps]
    if (planned.length === 0) unchanged++
    return planned.map((step) => ({ ...step, place }))
  })
  assertNoErrors(errors)
  const pruned = prune ? await planPrune(entries, name, { prune, store }) : []
  const all = [...steps, ...pruned]
  assertOwnKept(all, by, mayChangeOwn)
  await assertAdminLeft(all, store)
  return { steps: all.toSorted((a, b) => phaseOf(a) - phaseOf(b)), unchanged }
}

/** An Admin is demoted late, as the file may make somebody else an Admin first. */
function phaseOf({ change, work }: Step): number {
  const isDemotion =
    work.kind === 'update-account' &&
    change.fields.some(({ field, from }) => field === 'role' && from === adminRole)
  return changeActions.indexOf(isDemotion ? 'disable-account' : change.action)
}

function planCreation({ email, disabled, plan, keys: _, ...profile }: DesiredAccount, name: string): Step {
  const input: AccountInput = {
    ...accountDefaults,
    ...profile,
    email,
    ...(plan != null && { plan }),
    ...(disabled && { isDisabled: true }),
    managedBy: name,
  }
  const { isDisabled, ...given } = input
  const shown = { ...given, ...(isDisabled && { disabled: true }) }
  return {
    change: {
      action: 'create-account',
      account: email,
      fields: fieldChanges({ email }, shown).filter(({ to }) => to !== '' && to !== false),
    },
    work: { kind: 'create-account', input },
  }
}

function planUpdate(desired: DesiredAccount, account: Account, name: string): readonly Step[] {
  const { email, keys: _, disabled, ...others } = desired
  const before = { ...account, disabled: account.isDisabled }
  const wanted = { ...others, ...(disabled !== undefined && { disabled }), managedBy: name }
  const fields = fieldChanges(before, wanted)
  if (fields.length === 0) return []
  const changes: AccountChanges = Object.fromEntries(
    fields.map(({ field, to }) => [field === 'disabled' ? 'isDisabled' : field, to ?? undefined]),
  )
  const action = changes.isDisabled ? 'disable-account' : 'update-account'
  return [
    {
      change: { action, account: email, fields },
      work: { kind: 'update-account', id: account.id, changes },
    },
  ]
}

/** Looks up which accounts have the digests in the file. */
async function findHolders(
  accounts: readonly DesiredAccount[],
  store: PlanStore,
): Promise<ReadonlyMap<string, string>> {
  const digests = accounts.flatMap(({ keys = [] }) => keys.flatMap((key) => digestIn(key) ?? []))
  const found = await inBatches(digests, async (digest) => ({
    digest: Buffer.from(digest).toString('hex'),
    holder: await store.findImportedKey(digest),
  }))
  return new Map(
    found.flatMap(({ digest, holder }) => (holder === undefined ? [] : [[digest, holder] as const])),
  )
}
