import { invalidField } from '#platform/errors/gatehouse-error.ts'
import type { Account } from '#store/accounts.ts'
import type { AuditEntry } from '#store/audit-entry.ts'
import type { KeyStore } from '#store/keys.ts'
import type { SecretKey } from '#store/secret-keys.ts'
import type { SessionStore } from '#store/sessions.ts'
import { endSessionsOfLostKeys } from '../account-sessions.ts'
import { keyDetails, type SecretKeyInput } from '../keys/input.ts'
import {
  type AddSecretKeyOptions,
  addSecretKey,
  createKeyId,
  type KeyOptions,
  makeImportedKey,
  makeSecretKey,
} from '../keys/make-key.ts'
import type { Replacement } from './change.ts'

export interface KeyWriterOptions extends KeyOptions, AddSecretKeyOptions {
  readonly store: KeyStore & Pick<SessionStore, 'listSessions' | 'endSession'>
}

const changedMeanwhile = 'was changed meanwhile: apply the file again'

/** All methods throw GatehouseError `request-invalid` if the keys have changed since the plan was made. */
export function createKeyWriter(options: KeyWriterOptions) {
  const { store, entry, clock } = options

  /**
   * @param onMade called with a new key before it is valid
   * @throws UnconfirmedKeys
   */
  async function create(
    account: Account,
    { input, digest }: { readonly input: SecretKeyInput; readonly digest: Uint8Array | undefined },
    onMade: (key: string) => Promise<void>,
  ): Promise<void> {
    const made = digest
      ? { key: undefined, stored: toImportedKey(input, digest) }
      : makeSecretKey(account.id, input, options)
    if (made.key !== undefined) await onMade(made.key)
    const details = digest && { isImported: true }
    const outcome = await addSecretKey(options, account, { ...made, details })
    if (outcome !== 'added') throw invalidField('keys', `"${input.name}" ${changedMeanwhile}`)
  }

  function toImportedKey(input: SecretKeyInput, digest: Uint8Array): SecretKey {
    return makeImportedKey({ digest, input }, createKeyId(), clock())
  }

  /** Revokes the previous key at once, with its sessions. */
  async function replace(account: Account, { before, input, digest }: Replacement): Promise<void> {
    const secretKey = { ...toImportedKey(input, digest), ...keptQuota(before, input) }
    const details = { name: before.name, graceSeconds: 0 }
    await reset(account, before, secretKey, entry('secret-key-reset', account, details))
  }

  /** Narrower limits end the sessions of the key, as their access tokens have the previous limits. */
  async function update(account: Account, { before, input }: Replacement): Promise<void> {
    const id = isNarrower(before, input) ? createKeyId() : before.id
    const { scopes, addresses, expiresAt } = input
    const { quota: _, ...others } = before
    const secretKey = { ...others, id, scopes, addresses, expiresAt, ...keptQuota(before, input) }
    await reset(account, before, secretKey, entry('secret-key-updated', account, keyDetails(input)))
  }

  async function reset(
    account: Account,
    before: SecretKey,
    secretKey: SecretKey,
    auditEntry: AuditEntry,
  ): Promise<void> {
    const change = { secretKey, graceUntil: undefined, replaces: before.digest }
    const after = await store.resetSecretKey(account.id, change, auditEntry)
    if (!after) throw invalidField('keys', `"${before.name}" ${changedMeanwhile}`)
    await endSessionsOfLostKeys(store, account, after, clock())
  }

  return { create, replace, update }
}

/** The new quota keeps the ID of the previous one, so that what was used of it still counts. */
function keptQuota({ quota: before, id }: SecretKey, { quota }: SecretKeyInput): Pick<SecretKey, 'quota'> {
  return quota ? { quota: { id: before?.id ?? id, limit: quota.limit, per: quota.per } } : {}
}

/** Whether a key may do less than before; a shorter lifetime ends its tokens by itself. */
function isNarrower(before: SecretKey, { scopes, addresses }: SecretKeyInput): boolean {
  return !allowsNoMore(before.scopes, scopes) || !allowsNoMore(before.addresses, addresses)
}

/** Whether `inner` allows nothing that `outer` does not; an empty list allows everything. */
function allowsNoMore(inner: readonly string[], outer: readonly string[]): boolean {
  if (outer.length === 0) return true
  return inner.length > 0 && inner.every((each) => outer.includes(each))
}
