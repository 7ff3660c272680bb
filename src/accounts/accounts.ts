import { setImmediate } from 'node:timers/promises'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { createAccountId } from '#platform/secrets/keys.ts'
import type {
  Account,
  AccountBatch,
  AccountChanges,
  AccountCreation,
  AccountStore,
  AccountsPage,
} from '#store/accounts.ts'
import type { Actor } from '#store/audit-entry.ts'
import { noPortalAccess } from '#store/portal-access.ts'
import {
  type AccountInput,
  type AccountLookup,
  accountNotFound,
  assertNotOwn,
  assertValid,
  findByIdOrEmail,
  noPlan,
} from './account-input.ts'
import { createAuditEntryFactory } from './audit-log.ts'
import { type KeyOptions, makeDefaultKey, makeKey, withUnconfirmedKeys } from './keys/make-key.ts'

export interface CreatedAccount {
  readonly account: Account
  /** Shown now; later only if a sealed copy is kept. */
  readonly secretKey: string
  readonly apiKey: string
}

/** How many accounts get their keys in one go: this blocks the event loop for a few milliseconds. */
const keyBatchSize = 20

type OnMade = (created: readonly CreatedAccount[]) => Promise<void>

/** The life of an account. Functions that take an ID or e-mail throw `account-not-found`. */
export interface Accounts extends AccountLookup {
  /** The names of the plans in the config. */
  readonly planNames: readonly string[]
  /** @throws GatehouseError `request-invalid`, `account-exists`; UnconfirmedKeys, as all functions that create keys */
  create(input: AccountInput): Promise<CreatedAccount>
  /**
   * Creates all or none. The keys are created a few at a time, with other work in between; the store writes all in one
   * step.
   * @param onMade called with the accounts before any is saved; if it throws, nothing is created
   * @throws as `create`, naming the e-mails that are taken
   */
  createAll(inputs: readonly AccountInput[], onMade?: OnMade): Promise<readonly CreatedAccount[]>
  /**
   * Creates all or none, however many there are: `importAccounts` of the store says what is guaranteed.
   * @param onMade called with each batch before all are saved; if it throws, the import is undone
   * @throws as `create`; then nothing that was passed to `onMade` is valid
   */
  importAll(batches: AsyncIterable<readonly AccountInput[]>, onMade: OnMade): Promise<void>
  /** Which of these e-mails already have an account. */
  findTaken(emails: readonly string[]): Promise<readonly string[]>
  /** Newest first. */
  list(page: AccountsPage): Promise<readonly Account[]>
  /** @throws GatehouseError `request-invalid`, `account-exists`, `own-account`, `last-admin` */
  update(idOrEmail: string, changes: AccountChanges): Promise<Account>
  /** @throws GatehouseError `own-account`, `last-admin` */
  remove(idOrEmail: string): Promise<Account>
}

interface AccountsOptions extends KeyOptions {
  readonly store: AccountStore
  /** Who acts; an account cannot disable, demote or delete itself. */
  readonly by: Actor
  /** The names of the plans in the config. */
  readonly planNames: readonly string[]
}

export function createAccounts({ store, by, planNames, ...keyOptions }: AccountsOptions): Accounts {
  const { clock } = keyOptions
  const entry = createAuditEntryFactory(by, clock)

  function prepare(input: AccountInput): CreatedAccount {
    const { email, firstName, lastName, role, isVerified, isDisabled = false, plan, managedBy } = input
    const id = createAccountId()
    const secretKey = makeDefaultKey(id, keyOptions)
    const apiKey = makeKey('apiKey', id, keyOptions)
    const account: Account = {
      id,
      email,
      firstName,
      lastName,
      role,
      isVerified,
      isDisabled,
      createdAt: clock(),
      revision: 1,
      sessionEpoch: 1,
      roleEpoch: 1,
      secretKeys: [secretKey.stored],
      apiKey: apiKey.stored,
      portal: noPortalAccess,
      plan,
      ...(managedBy !== undefined && { managedBy }),
    }
    return { account, secretKey: secretKey.key, apiKey: apiKey.key }
  }

  async function create(input: AccountInput): Promise<CreatedAccount> {
    assertValid(input, planNames)
    const created = prepare(input)
    await withUnconfirmedKeys(created, save([created]))
    return created
  }

  const createAll: Accounts['createAll'] = async (inputs, onMade) => {
    const created = await prepareAll(inputs)
    await onMade?.(created)
    await withUnconfirmedKeys(created, save(created))
    return created
  }

  async function prepareAll(inputs: readonly AccountInput[]): Promise<readonly CreatedAccount[]> {
    for (const input of inputs) {
      assertValid(input, planNames)
    }
    const created: CreatedAccount[] = []
    for (const [index, input] of inputs.entries()) {
      if (index > 0 && index % keyBatchSize === 0) await setImmediate()
      created.push(prepare(input))
    }
    return created
  }

  async function importAll(batches: AsyncIterable<readonly AccountInput[]>, onMade: OnMade): Promise<void> {
    async function* prepared(): AsyncGenerator<AccountBatch> {
      for await (const inputs of batches) {
        const created = await prepareAll(inputs)
        yield toBatch(created)
        await onMade(created)
      }
    }
    assertCreated(await store.importAccounts(prepared()))
  }

  async function save(created: readonly CreatedAccount[]): Promise<void> {
    const { accounts, audit } = toBatch(created)
    assertCreated(await store.createAccounts(accounts, audit))
  }

  function toBatch(created: readonly CreatedAccount[]): AccountBatch {
    return {
      accounts: created.map(({ account }) => account),
      audit: created.map(({ account }) =>
        entry('account-created', account, {
          role: account.role,
          ...(account.plan !== undefined && { plan: account.plan }),
          ...(account.isDisabled && { isDisabled: true }),
          ...(account.managedBy !== undefined && { managedBy: account.managedBy }),
        }),
      ),
    }
  }

  function assertCreated(creation: AccountCreation): void {
    if (creation.kind === 'created') return
    const errors = creation.emails.map((email) => ({ field: 'email', message: `${email} is taken` }))
    throw new GatehouseError('account-exists', { errors })
  }

  async function findTaken(emails: readonly string[]): Promise<readonly string[]> {
    const holders = await Promise.all(emails.map((email) => store.findAccountByEmail(email)))
    return emails.filter((_, index) => holders[index])
  }

  async function get(idOrEmail: string): Promise<Account> {
    return (await findByIdOrEmail(store, idOrEmail)) ?? accountNotFound()
  }

  async function update(idOrEmail: string, changes: AccountChanges): Promise<Account> {
    assertValid(changes, planNames)
    const account = await get(idOrEmail)
    const { id } = account
    if (changes.isDisabled || (changes.role !== undefined && changes.role !== account.role)) {
      assertNotOwn(by, id)
    }
    const details = Object.fromEntries(
      Object.entries({ ...changes, ...('plan' in changes && { plan: changes.plan ?? noPlan }) }).flatMap(
        ([name, value]) => (value === undefined ? [] : [[name, value]]),
      ),
    )
    const updated = await store.updateAccount(id, changes, entry('account-updated', account, details))
    if (updated.kind === 'exists') throw new GatehouseError('account-exists')
    if (updated.kind === 'last-admin') throw new GatehouseError('last-admin')
    return updated.kind === 'updated' ? updated.account : accountNotFound()
  }

  async function remove(idOrEmail: string): Promise<Account> {
    const account = await get(idOrEmail)
    assertNotOwn(by, account.id)
    const outcome = await store.deleteAccount(account.id, entry('account-deleted', account))
    if (outcome === 'last-admin') throw new GatehouseError('last-admin')
    return outcome === 'deleted' ? account : accountNotFound()
  }

  return {
    planNames,
    create,
    createAll,
    importAll,
    findTaken,
    get,
    list: (page) => store.listAccounts(page),
    update,
    remove,
  }
}
