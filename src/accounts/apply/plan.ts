import { type FieldError, GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import type { EpochMs } from '#platform/time.ts'
import {
  type Account,
  type AccountChanges,
  type AccountStore,
  adminRole,
  isActiveAdmin,
  readAllAccounts,
} from '#store/accounts.ts'
import type { Actor } from '#store/audit-entry.ts'
import type { ImportedKeyStore } from '#store/keys.ts'
import { defaultKeyName } from '#store/secret-keys.ts'
import { batchSize, changeActions, type Entry, inBatches, type Step } from './change.ts'
import {
  assertNoErrors,
  type DesiredAccount,
  type DesiredState,
  defaultStateName,
  within,
} from './desired-state.ts'
import { digestIn, planCreation, planKeys, planUpdate } from './plan-account.ts'

export interface PlanStore
  extends Pick<AccountStore, 'findAccountByEmail' | 'listAccounts'>,
    Pick<ImportedKeyStore, 'findImportedKey'> {}

interface PlanOptions {
  readonly store: PlanStore
  readonly by: Actor
  /** Whether the actor may change their own account and its keys, except to disable or demote it. */
  readonly mayChangeOwn: boolean
  /** undefined = what the file does not list stays as it is. */
  readonly prune: Prune | undefined
  readonly keysMax: number
  readonly now: EpochMs
}

interface ApplyPlan {
  /** In the order in which they must be made. */
  readonly steps: readonly Step[]
  /** How many accounts of the file need no change, to themselves or to their keys. */
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
    const keys = planKeys(desired.email, desired.keys ?? [], { account, holders, keysMax, now })
    errors.push(...within(`accounts.${index}`, keys.errors))
    const own = account ? planUpdate(desired, account, name) : [planCreation(desired, name)]
    const planned = [...own, ...keys.steps]
    if (planned.length === 0) unchanged++
    return planned
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

// The next functions find, before anything is changed, what the actions that make the changes would refuse.

/**
 * @param mayChangeOwn see PlanOptions
 * @throws GatehouseError `own-account`
 */
function assertOwnKept(steps: readonly Step[], by: Actor, mayChangeOwn: boolean): void {
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
async function assertAdminLeft(steps: readonly Step[], store: PlanStore): Promise<void> {
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

/** How much may be removed because the file does not list it. */
export interface Prune {
  /** Maximum number of accounts and keys together; undefined = half of the accounts, and half of the keys. */
  readonly max: number | undefined
}

interface Pruned {
  readonly steps: readonly Step[]
  /** Out of how many. */
  readonly total: number
}

/**
 * The steps that revoke further keys missing from the `keys` of their account's entry, if it has any, and that disable
 * accounts that a file of this name listed before but no longer does. The default key and the API key stay.
 * @throws GatehouseError `request-invalid` (field `pruneMax`) if too much would be removed
 */
async function planPrune(
  entries: readonly Entry[],
  name: string,
  { prune, store }: { readonly prune: Prune; readonly store: PlanStore },
): Promise<readonly Step[]> {
  const keys = pruneKeys(entries)
  const accounts = await pruneAccounts(entries, name, store)
  const count = keys.steps.length + accounts.steps.length
  const isTooMuch = prune.max === undefined ? [keys, accounts].some(isMoreThanHalf) : count > prune.max
  if (isTooMuch) {
    const what = `${accounts.steps.length} of ${accounts.total} accounts would be disabled and ${keys.steps.length} of ${keys.total} keys revoked`
    const limit = prune.max === undefined ? 'more than half' : `more than ${prune.max}`
    throw invalidField('pruneMax', `${what}, ${limit}: to do it, allow ${count}`)
  }
  return [...accounts.steps, ...keys.steps]
}

function isMoreThanHalf({ steps, total }: Pruned): boolean {
  return steps.length * 2 > total
}

function pruneKeys(entries: readonly Entry[]): Pruned {
  let total = 0
  const steps = entries.flatMap(({ desired, account }): readonly Step[] => {
    if (!account || !desired.keys) return []
    const listed = new Set(desired.keys.map((key) => key.name))
    const further = account.secretKeys.filter(
      (key) => key.name !== defaultKeyName && key.revokedAt === undefined,
    )
    total += further.length
    return further
      .filter((key) => !listed.has(key.name))
      .map((key) => ({
        change: { action: 'revoke-key', account: account.email, key: key.name, fields: [] },
        work: { kind: 'revoke-key', id: account.id, name: key.name },
      }))
  })
  return { steps, total }
}

async function pruneAccounts(entries: readonly Entry[], name: string, store: PlanStore): Promise<Pruned> {
  const listed = new Set(entries.map(({ account }) => account?.id))
  const steps: Step[] = []
  let total = 0
  for await (const page of readAllAccounts(store, batchSize)) {
    const managed = page.filter(({ managedBy, isDisabled }) => managedBy === name && !isDisabled)
    total += managed.length
    steps.push(...managed.filter(({ id }) => !listed.has(id)).map(disabling))
  }
  return { steps, total }
}

function disabling({ id, email }: Account): Step {
  return {
    change: {
      action: 'disable-account',
      account: email,
      fields: [{ field: 'disabled', from: false, to: true }],
    },
    work: { kind: 'update-account', id, changes: { isDisabled: true } },
  }
}
