import { GatehouseError } from '../errors.ts'
import { digestText } from '../store/digest-text.ts'
import type { KeyUse } from '../store/key-use.ts'
import type { Account, Store, StoredKey } from '../store/store.ts'
import type { Accounts } from './accounts.ts'
import type { Entries } from './entries.ts'
import type { KeyKind } from './keys.ts'

/** What may be shown about a key, without the key. Times are milliseconds since 1970. */
export interface KeyStatus {
  readonly createdAt: number
  /** Accurate to a few seconds; undefined = never used. */
  readonly lastUse: KeyUse | undefined
  /** Whether a sealed copy is kept, so that it can be shown again. */
  readonly isRevealable: boolean
}

export interface KeysStatus {
  readonly secretKey: KeyStatus
  /** The secret key before the last reset, while it still works; its creation is not known any more. */
  readonly previousSecretKey:
    | { readonly validUntil: number; readonly lastUse: KeyUse | undefined }
    | undefined
  readonly apiKey: KeyStatus
}

/** The longest overlap that any reset may ask for: 30 days. */
export const graceSecondsMax = 30 * 86_400

/** The keys of an account. Every act throws GatehouseError `account-not-found` for an unknown ID. */
export interface AccountKeys {
  /** Uses of the keys, such as of the previous one, show within a few seconds. */
  status(id: string): Promise<KeysStatus>
  /** The key itself, noted in the audit log; undefined where no copy is kept (keys.reveal: false). */
  reveal(id: string, kind: KeyKind): Promise<string | undefined>
  /**
   * Makes a new secret key. @param graceSeconds how long the old one still works; 0 = it, the sessions and the access
   * tokens end now
   * @throws GatehouseError `request-invalid` (field `graceSeconds`) beyond `graceSecondsMax`
   */
  resetSecretKey(id: string, graceSeconds: number): Promise<string>
  /** Ends the previous secret key now; false if there was none. Sessions go on. */
  endOverlap(id: string): Promise<boolean>
  /** Makes a new API key; the old one ends now, sessions go on. */
  resetApiKey(id: string): Promise<string>
  /**
   * Resets the key that was created at `createdAt`: of two such requests at once, only one gets a new key. @returns
   * undefined if that key has been replaced meanwhile
   */
  replaceSecretKey(id: string, createdAt: number, graceSeconds: number): Promise<string | undefined>
  replaceApiKey(id: string, createdAt: number): Promise<string | undefined>
}

/** Whether two secret keys work side by side now. */
function isOverlapping({ previousSecretKey }: Account, now: number): boolean {
  return previousSecretKey !== undefined && now < previousSecretKey.validUntil
}

export interface AccountKeysOptions {
  readonly store: Store
  readonly accounts: Accounts
  readonly entry: Entries
  readonly clock: () => number
}

export function createAccountKeys({ store, accounts, entry, clock }: AccountKeysOptions): AccountKeys {
  async function status(id: string): Promise<KeysStatus> {
    const account = await accounts.find(id)
    const uses = await store.findKeyUses(account.id)
    const statusOf = (key: StoredKey): KeyStatus => ({
      createdAt: key.createdAt,
      lastUse: uses.get(digestText(key)),
      isRevealable: key.sealed !== undefined,
    })
    const previous = isOverlapping(account, clock()) ? account.previousSecretKey : undefined
    return {
      secretKey: statusOf(account.secretKey),
      previousSecretKey: previous && {
        validUntil: previous.validUntil,
        lastUse: uses.get(digestText(previous)),
      },
      apiKey: statusOf(account.apiKey),
    }
  }

  /** It is logged before it is shown: a key that is not in the log has not been seen. */
  async function reveal(id: string, kind: KeyKind): Promise<string | undefined> {
    const account = await accounts.find(id)
    const key = accounts.reveal(account, kind)
    if (key !== undefined) await store.appendAudit(entry('key-revealed', account, { key: kind }))
    return key
  }

  return {
    status,
    reveal,
    resetSecretKey: async (id, graceSeconds) => {
      assertGrace(graceSeconds)
      return accounts.resetSecretKey(id, graceSeconds * 1_000)
    },
    replaceSecretKey: async (id, createdAt, graceSeconds) => {
      assertGrace(graceSeconds)
      const account = await accounts.find(id)
      if (account.secretKey.createdAt !== createdAt) return undefined
      return accounts.replaceSecretKey(account, graceSeconds * 1_000)
    },
    replaceApiKey: async (id, createdAt) => {
      const account = await accounts.find(id)
      return account.apiKey.createdAt === createdAt ? accounts.replaceApiKey(account) : undefined
    },
    endOverlap: async (id) => {
      const account = await accounts.find(id)
      return store.endOverlap(account.id, clock(), entry('secret-key-overlap-ended', account))
    },
    resetApiKey: accounts.resetApiKey,
  }
}

function assertGrace(graceSeconds: number): void {
  if (Number.isInteger(graceSeconds) && graceSeconds >= 0 && graceSeconds <= graceSecondsMax) return
  const message = `must be a whole number from 0 to ${graceSecondsMax}`
  throw new GatehouseError('request-invalid', { errors: [{ field: 'graceSeconds', message }] })
}
