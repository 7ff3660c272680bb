import { type GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import type { EpochMs } from '#platform/time.ts'
import type { Account } from '#store/accounts.ts'
import { digestText, type KeyStore, type KeyUse, type SecretKeyAdded } from '#store/keys.ts'
import { defaultKeyName, type KeyState, keyState, namedKeyOf, type SecretKey } from '#store/secret-keys.ts'
import type { SessionStore } from '#store/sessions.ts'
import { type AccountLookup, accountNotFound } from '../account-input.ts'
import { endSessionsOfLostKeys } from '../account-sessions.ts'
import { type CertificateInput, endingWith, parseCertificateInput } from './certificate-input.ts'
import {
  assertValidGrace,
  assertValidKey,
  findKeyErrors,
  graceEnd,
  graceLeft,
  type SecretKeyInput,
} from './input.ts'
import {
  type AddSecretKeyOptions,
  addSecretKey,
  createKeyId,
  type KeyOptions,
  makeImportedKey,
  makeSecretKey,
} from './make-key.ts'
import { type ReplacedKey, replaceSecretKey } from './replace-key.ts'

/** A secret key, without the key. */
export interface SecretKeyStatus extends Omit<SecretKey, 'id' | 'digest' | 'sealed'> {
  /** Revoked keys are not listed; a key within an overlap is valid until `revokedAt`. */
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
   * Makes a certificate a further key, which expires with the certificate at the latest.
   * @param pem see `parseCertificateInput`
   * @returns the certificate, and what the key was created from
   * @throws GatehouseError `request-invalid`, as `create`; field `certificate`: it is not one, has expired, or is a
   *   key already
   */
  bindCertificate(idOrEmail: string, input: SecretKeyInput, pem: string): Promise<BoundCertificate>
  /**
   * Replaces a further key by one of the same name, limits and lifetime; what was spent of its quota is kept.
   * @param graceSeconds how long the old one still works, unless it expires earlier; 0 = it, its sessions and its
   *   access tokens are revoked now
   * @param createdAt when the key to replace must have been created; absent = at any time
   * @throws GatehouseError `request-invalid` (field `name`) where there is no such key, or it was replaced meanwhile;
   *   UnconfirmedKeys
   */
  rotate(idOrEmail: string, name: string, graceSeconds: number, createdAt?: EpochMs): Promise<ReplacedKey>
  /**
   * Gives a further key another name. Usage that was counted stays under the old one.
   * @throws GatehouseError `request-invalid` (field `name`: there is no such key; field `to`: it cannot have this name)
   */
  rename(idOrEmail: string, name: string, to: string): Promise<void>
  /**
   * Revokes a key; its sessions end with it. No other key is affected.
   * @param graceSeconds how long it still works, unless it ends earlier; 0 = it is revoked now
   * @param createdAt of the only key to revoke; absent = all with this name, including one within an overlap
   * @returns how many seconds it does still work; with several, the one that ends last
   * @throws GatehouseError `request-invalid` (field `name`) where there is no such key
   */
  revoke(idOrEmail: string, name: string, graceSeconds: number, createdAt?: EpochMs): Promise<number>
}

/** A certificate that is a key of an account. */
export interface BoundCertificate {
  readonly certificate: CertificateInput
  readonly input: SecretKeyInput
}

interface SecretKeysOptions extends KeyOptions, AddSecretKeyOptions {
  readonly store: KeyStore & Pick<SessionStore, 'listSessions' | 'endSession'>
  readonly accounts: AccountLookup
}

export function createSecretKeys(options: SecretKeysOptions): SecretKeys {
  const { store, accounts, entry, keysMax, clock } = options

  async function list(idOrEmail: string): Promise<readonly SecretKeyStatus[]> {
    const account = await accounts.get(idOrEmail)
    const uses = await store.findKeyUses(account.id)
    const now = clock()
    return account.secretKeys.flatMap(({ id: _, digest, sealed: __, ...key }) => {
      const state = keyState(key, now)
      return state === 'revoked' ? [] : [{ ...key, state, lastUse: uses.get(digestText({ digest })) }]
    })
  }

  async function create(idOrEmail: string, input: SecretKeyInput): Promise<string> {
    assertValidKey(input, clock())
    const account = await accounts.get(idOrEmail)
    const made = makeSecretKey(account.id, input, options)
    assertAdded(await addSecretKey(options, account, made), input.name)
    return made.key
  }

  async function bindCertificate(
    idOrEmail: string,
    asked: SecretKeyInput,
    pem: string,
  ): Promise<BoundCertificate> {
    const now = clock()
    assertValidKey(asked, now)
    const certificate = parseCertificateInput(pem, now)
    const input = endingWith(certificate, asked, now)
    const account = await accounts.get(idOrEmail)
    const { digest } = certificate
    const stored = makeImportedKey({ digest, input }, createKeyId(), now)
    const details = { certificate: Buffer.from(digest).toString('hex') }
    assertAdded(await addSecretKey(options, account, { stored, details }), input.name)
    return { certificate, input }
  }

  function assertAdded(outcome: SecretKeyAdded, name: string): void {
    switch (outcome) {
      case 'added':
        return
      case 'present':
        throw invalidField('certificate', 'is a key of this account already')
      case 'taken':
        throw invalidField('certificate', 'is a key of another account')
      case 'exists':
        throw invalidField('name', takenName(name))
      case 'too-many':
        throw invalidField(
          'name',
          `the account has ${keysMax} secret keys, which is the maximum: revoke one first`,
        )
      default:
        accountNotFound()
    }
  }

  async function revoke(
    idOrEmail: string,
    name: string,
    graceSeconds: number,
    createdAt?: EpochMs,
  ): Promise<number> {
    assertValidGrace(graceSeconds)
    const account = await accounts.get(idOrEmail)
    const now = clock()
    const named = account.secretKeys.filter((key) => key.name === name)
    const only = named.find((key) => key.createdAt === createdAt)
    if (createdAt !== undefined && !only) throw unknownKey(name)
    const left = graceLeft(only ? [only] : named, graceSeconds, now)
    const auditEntry = entry('secret-key-revoked', account, { name, graceSeconds: left })
    const graceUntil = graceEnd(graceSeconds, now)
    const revocation = { name, now, graceUntil, ...(only && { only: only.digest }) }
    const after = await store.revokeSecretKey(account.id, revocation, auditEntry)
    if (!after) throw unknownKey(name)
    await endSessionsOfLostKeys(store, account, after, now)
    return left
  }

  async function rotate(
    idOrEmail: string,
    name: string,
    graceSeconds: number,
    createdAt?: EpochMs,
  ): Promise<ReplacedKey> {
    assertValidGrace(graceSeconds)
    const account = await accounts.get(idOrEmail)
    const before = furtherKeyOf(account, name)
    if (!before || (createdAt !== undefined && before.createdAt !== createdAt)) throw unknownKey(name)
    const { scopes, addresses, quota } = before
    const expiresAt = before.expiresAt && clock() + before.expiresAt - before.createdAt
    const made = makeSecretKey(account.id, { name, scopes, addresses, quota, expiresAt }, options)
    const replacement = { made, graceSeconds, replaces: before.digest, details: { name } }
    const replaced = await replaceSecretKey(options, account, replacement)
    if (!replaced) throw unknownKey(name)
    return replaced
  }

  async function rename(idOrEmail: string, name: string, to: string): Promise<void> {
    const [error] = findKeyErrors({ name: to, scopes: [], addresses: [], expiresAt: undefined }, clock())
    if (error) throw invalidField('to', error.message)
    const account = await accounts.get(idOrEmail)
    if (!furtherKeyOf(account, name)) throw unknownKey(name)
    const auditEntry = entry('secret-key-renamed', account, { name, to })
    switch (await store.renameSecretKey(account.id, { name, to }, auditEntry)) {
      case 'renamed':
        return
      case 'exists':
        throw invalidField('to', takenName(to))
      default:
        throw unknownKey(name)
    }
  }

  return { list, create, bindCertificate, rotate, rename, revoke }
}

/** A further key by its name. @throws GatehouseError `request-invalid` for the default key: it has its own actions */
function furtherKeyOf(account: Account, name: string): SecretKey | undefined {
  if (name === defaultKeyName) throw invalidField('name', `"${defaultKeyName}" can only be reset`)
  return namedKeyOf(account, name)
}

function unknownKey(name: string): GatehouseError {
  return invalidField('name', `the account has no secret key called "${name}"`)
}

function takenName(name: string): string {
  return `"${name}" is the name of another key of this account`
}
