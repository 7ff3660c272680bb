import { invalidField } from '#platform/errors/gatehouse-error.ts'
import { type Account, type AccountStore, readAllAccounts } from '#store/accounts.ts'
import { defaultKeyName } from '#store/secret-keys.ts'
import type { Step } from './change.ts'
import { batchSize, type Entry } from './entries.ts'

/** How much may be removed because the file does not list it. */
export interface Prune {
  /** Maximum number of accounts and keys together; undefined = half of the accounts, and half of the keys. */
  readonly max: number | undefined
}

interface Pruned {
  readonly steps: readonly Step[]
  /** How many could be removed. */
  readonly total: number
}

/**
 * Revokes further keys that the entry of their account does not list, if it has `keys`, and disables accounts that a
 * file of this name listed before but no longer does. The default key and the API key stay.
 * @throws GatehouseError `request-invalid` (field `pruneMax`) if too much would be removed
 */
export async function planPrune(
  entries: readonly Entry[],
  name: string,
  { prune, store }: { readonly prune: Prune; readonly store: Pick<AccountStore, 'listAccounts'> },
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

async function pruneAccounts(
  entries: readonly Entry[],
  name: string,
  store: Pick<AccountStore, 'listAccounts'>,
): Promise<Pruned> {
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
