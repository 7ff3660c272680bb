import type { KeyKind } from '#platform/secrets/keys.ts'
import type { EpochMs } from '#platform/time.ts'
import type { Account } from '#store/accounts.ts'
import type { AuditStore } from '#store/audit.ts'
import { digestText, type KeyStore, type KeyUse } from '#store/keys.ts'
import { defaultKeyOf, overlappingKeyOf, type StoredKey } from '#store/secret-keys.ts'
import type { SessionStore } from '#store/sessions.ts'
import { type AccountLookup, accountNotFound } from '../account-input.ts'
import type { AuditEntryFactory } from '../audit-log.ts'
import { assertValidGrace } from './input.ts'
import { type KeyOptions, makeDefaultKey, makeKey, unsealKey, withUnconfirmedKeys } from './make-key.ts'
import { replaceSecretKey } from './replace-key.ts'

/** What may be shown about a key, without the key. */
export interface KeyStatus {
  /** Whether there is a key: a default secret key can be revoked without a new one. */
  readonly exists: boolean
  /** 0 = there is none. */
  readonly createdAt: EpochMs
  /** Accurate to a few seconds; undefined = never used. */
  readonly lastUse: KeyUse | undefined
  /** Whether it can be shown again: a sealed copy is kept, and keys.reveal is true. */
  readonly isRevealable: boolean
  /** The last four characters of the key; undefined = it was made before these were kept. */
  readonly lastFour?: string | undefined
}

export interface DefaultKeysStatus {
  /** The default one. */
  readonly secretKey: KeyStatus
  /** The secret key before the last reset, while it still works; its creation time is not kept. */
  readonly previousSecretKey:
    | { readonly validUntil: EpochMs; readonly lastUse: KeyUse | undefined }
    | undefined
  readonly apiKey: KeyStatus
}

/** The default secret key and API key of an account, by ID or e-mail. All methods throw `account-not-found`. */
export interface DefaultKeys {
  /** A use of a key, also of the previous one, shows within a few seconds. */
  status(idOrEmail: string): Promise<DefaultKeysStatus>
  /** The key itself, recorded in the audit log; undefined with keys.reveal: false, or where no copy is kept. */
  reveal(idOrEmail: string, kind: KeyKind): Promise<string | undefined>
  /** The key without an audit entry: for use on behalf of its owner, not to be shown. */
  unseal(account: Account, kind: KeyKind): string | undefined
  /**
   * Creates a new default key.
   * @param graceSeconds how long the old one still works; 0 = it, its sessions and its access tokens are revoked now
   * @throws GatehouseError `request-invalid` (field `graceSeconds`) for an invalid grace period; UnconfirmedKeys, as
   *   all functions that create keys
   */
  resetSecretKey(idOrEmail: string, graceSeconds: number): Promise<string>
  /** Revokes the previous secret key now; false if there was none. Sessions continue. */
  endOverlap(idOrEmail: string): Promise<boolean>
  /** Creates a new API key; the old one is revoked now, sessions continue. */
  resetApiKey(idOrEmail: string): Promise<string>
  /**
   * Resets the key that was created at `createdAt`: of two concurrent requests, only one gets a new key.
   * @returns undefined if that key has been replaced meanwhile
   */
  replaceSecretKey(idOrEmail: string, createdAt: EpochMs, graceSeconds: number): Promise<string | undefined>
  replaceApiKey(idOrEmail: string, createdAt: EpochMs): Promise<string | undefined>
}

export const noKey: KeyStatus = { exists: false, createdAt: 0, lastUse: undefined, isRevealable: false }

interface DefaultKeysOptions extends KeyOptions {
  readonly store: KeyStore &
    Pick<AuditStore, 'appendAudit'> &
    Pick<SessionStore, 'listSessions' | 'endSession'>
  readonly accounts: AccountLookup
  readonly entry: AuditEntryFactory
}

export function createDefaultKeys(options: DefaultKeysOptions): DefaultKeys {
  const { store, accounts, sealer, entry, clock } = options

  async function status(idOrEmail: string): Promise<DefaultKeysStatus> {
    const account = await accounts.get(idOrEmail)
    const uses = await store.findKeyUses(account.id)
    const statusOf = (key: StoredKey): KeyStatus => ({
      exists: true,
      createdAt: key.createdAt,
      lastUse: uses.get(digestText(key)),
      isRevealable: options.reveal && key.sealed !== undefined,
      lastFour: key.lastFour,
    })
    const secretKey = defaultKeyOf(account)
    const previous = overlappingKeyOf(account, clock())
    return {
      secretKey: secretKey ? statusOf(secretKey) : noKey,
      previousSecretKey: previous && {
        validUntil: previous.revokedAt,
        lastUse: uses.get(digestText(previous)),
      },
      apiKey: statusOf(account.apiKey),
    }
  }

  /** Copies that were sealed before keys.reveal became false are kept, but not opened. */
  function unseal(account: Account, kind: KeyKind): string | undefined {
    return options.reveal ? unsealKey(kind, account, sealer) : undefined
  }

  /** It is logged before it is shown: a key that is not in the log has not been seen. */
  async function reveal(idOrEmail: string, kind: KeyKind): Promise<string | undefined> {
    const account = await accounts.get(idOrEmail)
    const key = unseal(account, kind)
    if (key !== undefined) await store.appendAudit(entry('key-revealed', account, { key: kind }))
    return key
  }

  /** @param createdAt when the key to replace must have been created; absent = at any time */
  async function newSecretKey(idOrEmail: string, graceSeconds: number, createdAt?: EpochMs) {
    assertValidGrace(graceSeconds)
    const account = await accounts.get(idOrEmail)
    const before = defaultKeyOf(account)
    if (createdAt !== undefined && (before ?? noKey).createdAt !== createdAt) return undefined
    const replaces = createdAt === undefined ? undefined : before?.digest
    const made = makeDefaultKey(account.id, options)
    return (await replaceSecretKey(options, account, { made, graceSeconds, replaces }))?.key
  }

  /** @param createdAt as for `newSecretKey` */
  async function newApiKey(idOrEmail: string, createdAt?: EpochMs) {
    const account = await accounts.get(idOrEmail)
    const before = account.apiKey
    if (createdAt !== undefined && before.createdAt !== createdAt) return undefined
    const { key, stored } = makeKey('apiKey', account.id, options)
    const reset = { apiKey: stored, ...(createdAt !== undefined && { replaces: before.digest }) }
    const resetting = store.resetApiKey(account.id, reset, entry('api-key-reset', account))
    return (await withUnconfirmedKeys(key, resetting)) ? key : undefined
  }

  return {
    status,
    reveal,
    unseal,
    resetSecretKey: async (idOrEmail, graceSeconds) =>
      (await newSecretKey(idOrEmail, graceSeconds)) ?? accountNotFound(),
    replaceSecretKey: (idOrEmail, createdAt, graceSeconds) =>
      newSecretKey(idOrEmail, graceSeconds, createdAt),
    resetApiKey: async (idOrEmail) => (await newApiKey(idOrEmail)) ?? accountNotFound(),
    replaceApiKey: newApiKey,
    endOverlap: async (idOrEmail) => {
      const account = await accounts.get(idOrEmail)
      return store.endOverlap(account.id, clock(), entry('secret-key-overlap-ended', account))
    },
  }
}
