import { GatehouseError, invalidField } from '../errors/gatehouse-error.ts'
import { digestText, type KeyStore, type KeyUse } from '../store/keys.ts'
import { type KeyState, keyState, type SecretKey } from '../store/secret-keys.ts'
import type { SessionStore } from '../store/sessions.ts'
import { assertValidGrace } from './account-keys.ts'
import type { Accounts } from './accounts.ts'
import type { AuditEntryFactory } from './audit-entry-factory.ts'
import { assertValidKey, type SecretKeyInput } from './key-input.ts'
import { type KeyOptions, makeSecretKey, withUnconfirmedKeys } from './make-key.ts'
import { endSessionsOfKey } from './sessions/end-sessions-of-key.ts'

/** A secret key, without the key. Times are milliseconds since 1970. */
export interface SecretKeyStatus
  extends Pick<
    SecretKey,
    'name' | 'scopes' | 'addresses' | 'createdAt' | 'expiresAt' | 'revokedAt' | 'isImported'
  > {
  /** Keys that are revoked are not listed; until `revokedAt`, one within an overlap is valid. */
  readonly state: Exclude<KeyState, 'revoked'>
  /** Accurate to a few seconds; undefined = never used. */
  readonly lastUse: KeyUse | undefined
}

/** The secret keys of an account, by its ID or e-mail. All methods throw GatehouseError `account-not-found`. */
export interface SecretKeys {
  /** In the order in which they were made, the default one included. */
  list(idOrEmail: string): Promise<readonly SecretKeyStatus[]>
  /**
   * Creates a further key.
   * @throws GatehouseError `request-invalid` with the fields that are wrong: also where the name is taken, or there are
   *   as many keys as `keys.maxPerAccount`; UnconfirmedKeys
   */
  create(idOrEmail: string, input: SecretKeyInput): Promise<string>
  /**
   * Revokes a key; its sessions end with it. No other key is affected.
   * @param graceSeconds how long it still works; 0 = it is revoked now
   * @throws GatehouseError `request-invalid` (field `name`) where there is no such key
   */
  revoke(idOrEmail: string, name: string, graceSeconds: number): Promise<void>
}

export interface SecretKeysOptions extends KeyOptions {
  readonly store: KeyStore & Pick<SessionStore, 'listSessions' | 'endSession'>
  readonly accounts: Accounts
  readonly entry: AuditEntryFactory
  /** How many secret keys an account may have, the default one included. */
  readonly keysMax: number
}

export function createSecretKeys(options: SecretKeysOptions): SecretKeys {
  const { store, accounts, entry, keysMax, clock } = options

  async function list(id: string): Promise<readonly SecretKeyStatus[]> {
    const account = await accounts.find(id)
    const uses = await store.findKeyUses(account.id)
    const now = clock()
    return account.secretKeys.flatMap(({ id: _, digest, sealed: __, ...key }) => {
      const state = keyState(key, now)
      return state === 'revoked' ? [] : [{ ...key, state, lastUse: uses.get(digestText({ digest })) }]
    })
  }

  async function create(id: string, input: SecretKeyInput): Promise<string> {
    assertValidKey(input, clock())
    const account = await accounts.find(id)
    const { key, stored } = makeSecretKey(account.id, input, options)
    const { name, scopes } = input
    const auditEntry = entry('secret-key-created', account, { name, scopes: scopes.join(' ') })
    const adding = store.addSecretKey(account.id, { secretKey: stored, keysMax }, auditEntry)
    switch (await withUnconfirmedKeys(key, adding)) {
      case 'added':
        return key
      case 'exists':
        throw invalidField('name', `"${name}" is the name of another key of this account`)
      case 'too-many':
        throw invalidField(
          'name',
          `the account has ${keysMax} secret keys, and may have no more: revoke one first`,
        )
      default:
        throw new GatehouseError('account-not-found')
    }
  }

  async function revoke(id: string, name: string, graceSeconds: number): Promise<void> {
    assertValidGrace(graceSeconds)
    const account = await accounts.find(id)
    const now = clock()
    const graceUntil = graceSeconds > 0 ? now + graceSeconds * 1_000 : undefined
    const auditEntry = entry('secret-key-revoked', account, { name, graceSeconds })
    const after = await store.revokeSecretKey(account.id, { name, now, graceUntil }, auditEntry)
    if (!after) throw invalidField('name', `the account has no secret key called "${name}"`)
    await endSessionsOfKey(store, account, after, now)
  }

  return { list, create, revoke }
}
