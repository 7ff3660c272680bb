import { setImmediate } from 'node:timers/promises'
import { GatehouseError } from '../errors.ts'
import type { Actor } from '../store/audit.ts'
import { noPortalAccess } from '../store/portal-access.ts'
import type { Account, AccountChanges, AccountsPage, Store, StoredKey } from '../store/store.ts'
import { isStoreFailure } from '../store/store-failure.ts'
import { type AccountInput, assertValid } from './account-input.ts'
import { entriesBy } from './entries.ts'
import { createAccountId, createKey, digestOf, type KeyKind } from './keys.ts'
import type { Sealer } from './sealing.ts'

/**
 * `store-unavailable` for a change that may have been made, and may not last: it holds the new keys, which are stored
 * nowhere else. Only an operator is shown them.
 */
export class UnconfirmedKeys extends GatehouseError {
  /** What the function would have returned. */
  readonly made: unknown

  constructor(made: unknown, { cause }: Error) {
    super('store-unavailable', { cause })
    this.made = made
  }
}

export interface CreatedAccount {
  readonly account: Account
  /** Shown now; later only if a sealed copy is kept. */
  readonly secretKey: string
  readonly apiKey: string
}

/** How many accounts get their keys in one go: this holds up traffic for a few milliseconds. */
const sliceAccounts = 20

/**
 * The life of an account. Accounts are found by ID or e-mail; every function that takes one throws
 * `account-not-found`.
 */
export interface Accounts {
  /** @throws GatehouseError `request-invalid`, `account-exists`; UnconfirmedKeys, as all functions that make keys */
  create(input: AccountInput): Promise<CreatedAccount>
  /**
   * Creates all or none. The keys are made a few at a time, with other work in between; the store takes all in one
   * step.
   * @throws the same, with the e-mails that are taken
   */
  createAll(inputs: readonly AccountInput[]): Promise<readonly CreatedAccount[]>
  /** Which of some e-mails have an account. */
  findTaken(emails: readonly string[]): Promise<readonly string[]>
  find(idOrEmail: string): Promise<Account>
  /** Newest first. */
  list(page: AccountsPage): Promise<readonly Account[]>
  /** @throws GatehouseError `request-invalid`, `account-exists`, `own-account` */
  update(idOrEmail: string, changes: AccountChanges): Promise<Account>
  /** @throws GatehouseError `own-account` */
  remove(idOrEmail: string): Promise<Account>
  /** @param graceMs how long the old key still works; 0 = it, the sessions and the access tokens end now */
  resetSecretKey(idOrEmail: string, graceMs: number): Promise<string>
  resetApiKey(idOrEmail: string): Promise<string>
  /** Resets only if the account still has the same key as in `looked`; undefined where it has another. */
  replaceSecretKey(looked: Account, graceMs: number): Promise<string | undefined>
  replaceApiKey(looked: Account): Promise<string | undefined>
  /** A key from its sealed copy; undefined where none is kept. */
  reveal(account: Account, kind: KeyKind): string | undefined
}

export interface AccountsOptions {
  readonly store: Store
  readonly sealer: Sealer
  /** Whether sealed copies of keys are kept. */
  readonly reveal: boolean
  /** Who acts; an account cannot disable, demote or delete itself. */
  readonly by: Actor
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

export function createAccounts({ store, sealer, reveal, by, clock }: AccountsOptions): Accounts {
  const entry = entriesBy(by, clock)

  function newKey(kind: KeyKind, accountId: string): { readonly key: string; readonly stored: StoredKey } {
    const key = createKey(kind, accountId)
    const sealed = reveal ? sealer.seal(key, purposeOf(kind, accountId)) : undefined
    return { key, stored: { digest: digestOf(key), sealed, createdAt: clock() } }
  }

  function prepare({ email, firstName, lastName, role, isVerified }: AccountInput): CreatedAccount {
    const id = createAccountId()
    const secretKey = newKey('secretKey', id)
    const apiKey = newKey('apiKey', id)
    const account: Account = {
      id,
      email: email.trim(),
      firstName,
      lastName,
      role,
      isVerified,
      isDisabled: false,
      createdAt: clock(),
      revision: 1,
      sessionEpoch: 1,
      roleEpoch: 1,
      secretKey: secretKey.stored,
      previousSecretKey: undefined,
      apiKey: apiKey.stored,
      portal: noPortalAccess,
    }
    return { account, secretKey: secretKey.key, apiKey: apiKey.key }
  }

  async function create(input: AccountInput): Promise<CreatedAccount> {
    assertValid(input)
    const created = prepare(input)
    await keeping(created, save([created]))
    return created
  }

  async function createAll(inputs: readonly AccountInput[]): Promise<readonly CreatedAccount[]> {
    for (const input of inputs) assertValid(input)
    const created: CreatedAccount[] = []
    for (const [index, input] of inputs.entries()) {
      if (index > 0 && index % sliceAccounts === 0) await setImmediate()
      created.push(prepare(input))
    }
    await keeping(created, save(created))
    return created
  }

  async function save(created: readonly CreatedAccount[]): Promise<void> {
    const creation = await store.createAccounts(
      created.map(({ account }) => account),
      created.map(({ account }) => entry('account-created', account, { role: account.role })),
    )
    if (creation.kind === 'created') return
    const errors = creation.emails.map((email) => ({ field: 'email', message: `${email} is taken` }))
    throw new GatehouseError('account-exists', { errors })
  }

  async function findTaken(emails: readonly string[]): Promise<readonly string[]> {
    const holders = await Promise.all(emails.map((email) => store.findAccountByEmail(email)))
    return emails.filter((_, index) => holders[index])
  }

  async function find(idOrEmail: string): Promise<Account> {
    const account = idOrEmail.includes('@')
      ? await store.findAccountByEmail(idOrEmail)
      : await store.findAccount(idOrEmail)
    return account ?? notFound()
  }

  async function update(idOrEmail: string, changes: AccountChanges): Promise<Account> {
    assertValid(changes)
    const account = await find(idOrEmail)
    const { id } = account
    if (changes.isDisabled || (changes.role !== undefined && changes.role !== account.role)) {
      assertNotOwn(by, id)
    }
    const details = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
    const updated = await store.updateAccount(id, changes, entry('account-updated', account, details))
    if (updated.kind === 'exists') throw new GatehouseError('account-exists')
    return updated.kind === 'updated' ? updated.account : notFound()
  }

  async function remove(idOrEmail: string): Promise<Account> {
    const account = await find(idOrEmail)
    assertNotOwn(by, account.id)
    return (await store.deleteAccount(account.id, entry('account-deleted', account))) ? account : notFound()
  }

  /** @param replaces digest of the key that is to be replaced; undefined = any key */
  async function newSecretKey(account: Account, graceMs: number, replaces?: Uint8Array) {
    const { key, stored } = newKey('secretKey', account.id)
    const graceUntil = graceMs > 0 ? clock() + graceMs : undefined
    const reset = { secretKey: stored, graceUntil, ...(replaces && { replaces }) }
    const noted = entry('secret-key-reset', account, { graceSeconds: graceMs / 1_000 })
    return (await keeping(key, store.resetSecretKey(account.id, reset, noted))) ? key : undefined
  }

  async function newApiKey(account: Account, replaces?: Uint8Array) {
    const { key, stored } = newKey('apiKey', account.id)
    const reset = { apiKey: stored, ...(replaces && { replaces }) }
    const noted = entry('api-key-reset', account)
    return (await keeping(key, store.resetApiKey(account.id, reset, noted))) ? key : undefined
  }

  return {
    create,
    createAll,
    findTaken,
    find,
    list: (page) => store.listAccounts(page),
    update,
    remove,
    resetSecretKey: async (idOrEmail, graceMs) =>
      (await newSecretKey(await find(idOrEmail), graceMs)) ?? notFound(),
    resetApiKey: async (idOrEmail) => (await newApiKey(await find(idOrEmail))) ?? notFound(),
    replaceSecretKey: (looked, graceMs) => newSecretKey(looked, graceMs, looked.secretKey.digest),
    replaceApiKey: (looked) => newApiKey(looked, looked.apiKey.digest),
    reveal: (account, kind) => {
      const { sealed } = account[kind]
      return sealed && sealer.unseal(sealed, purposeOf(kind, account.id))
    },
  }
}

/** Adds the new keys to the error of a write that may have been made. */
function keeping<Result>(made: unknown, write: Promise<Result>): Promise<Result> {
  return write.catch((error: unknown) => {
    throw isStoreFailure(error, 'unconfirmed') ? new UnconfirmedKeys(made, error) : error
  })
}

function purposeOf(kind: KeyKind, accountId: string): string {
  return `${kind}:${accountId}`
}

/** So one Admin alone cannot leave the gateway without any: the one who acts stays an Admin. */
function assertNotOwn(by: Actor, id: string): void {
  if (by.kind === 'account' && by.id === id) throw new GatehouseError('own-account')
}

function notFound(): never {
  throw new GatehouseError('account-not-found')
}
