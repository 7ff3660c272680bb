import { setImmediate } from 'node:timers/promises'
import type { Account, AccountChanges } from '#store/accounts.ts'
import type { SecretKey } from '#store/secret-keys.ts'
import type { AccountInput } from '../account-input.ts'
import type { SecretKeyInput } from '../keys/input.ts'
import type { DesiredAccount } from './desired-state.ts'

/** In the order in which they are made: changes that give access come before those that take it away. */
export const changeActions = [
  'create-account',
  'update-account',
  'create-key',
  'replace-key',
  'update-key',
  'disable-account',
  'revoke-key',
] as const

type ChangeAction = (typeof changeActions)[number]

export interface FieldChange {
  readonly field: string
  /** As the admin API shows it; null = none. */
  readonly from: unknown
  readonly to: unknown
}

/** A change as it is shown; it contains no key. */
export interface Change {
  readonly action: ChangeAction
  /** The e-mail. */
  readonly account: string
  /** The name of the key; absent = the change is about the account. */
  readonly key?: string
  readonly fields: readonly FieldChange[]
}

type Work =
  | { readonly kind: 'create-account'; readonly input: AccountInput }
  | { readonly kind: 'update-account'; readonly id: string; readonly changes: AccountChanges }
  | {
      readonly kind: 'create-key'
      /** undefined = the account is created in the same run. */
      readonly id: string | undefined
      readonly input: SecretKeyInput
      /** undefined = the key is generated. */
      readonly digest: Uint8Array | undefined
    }
  | { readonly kind: 'replace-key' | 'update-key'; readonly id: string; readonly replacement: Replacement }
  | { readonly kind: 'revoke-key'; readonly id: string; readonly name: string }

/** A key that replaces another, or the same key with other limits. */
export interface Replacement {
  readonly before: SecretKey
  readonly input: SecretKeyInput
  readonly digest: Uint8Array
}

export interface Step {
  readonly change: Change
  readonly work: Work
}

/** Whether two values of a field are equal; the order of a list does not matter. */
function isSameValue(one: unknown, other: unknown): boolean {
  return JSON.stringify(normalized(one)) === JSON.stringify(normalized(other))
}

function normalized(value: unknown): unknown {
  return Array.isArray(value) ? value.toSorted() : value
}

/** The fields whose values differ. */
export function fieldChanges(
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
): readonly FieldChange[] {
  return Object.keys(to).flatMap((field) => {
    const change = { field, from: from[field] ?? null, to: to[field] ?? null }
    return isSameValue(change.from, change.to) ? [] : [change]
  })
}

/** An entry of the file, and its account. */
export interface Entry {
  readonly desired: DesiredAccount
  /** undefined = it does not exist yet. */
  readonly account: Account | undefined
}

/** How many look-ups are made at a time. Other work runs in between: SQLite, which is synchronous, holds it up. */
export const batchSize = 200

export async function inBatches<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let start = 0; start < items.length; start += batchSize) {
    results.push(...(await Promise.all(items.slice(start, start + batchSize).map(work))))
    await setImmediate()
  }
  return results
}
