import { withApiKey, withChanges, withoutSessions, withSecretKey } from '../account-changes.ts'
import { emailKey } from '../email-key.ts'
import type { Account, AccountCreation, AccountUpdate, Store } from '../store.ts'
import type { Connection } from './connection.ts'
import { accountText, parseAccount } from './records.ts'
import { loadScript } from './scripts.ts'

type AccountVerbs = Pick<
  Store,
  | 'createAccounts'
  | 'findAccount'
  | 'findAccountByEmail'
  | 'listAccounts'
  | 'updateAccount'
  | 'deleteAccount'
  | 'resetSecretKey'
  | 'resetApiKey'
  | 'endSessions'
>

const createScript = loadScript('create-accounts', { isChange: true })
const saveScript = loadScript('save-account', { isChange: true })
const deleteScript = loadScript('delete-account', { isChange: true })

/** Accounts as texts, one index of their e-mails and one of their IDs. */
export function openAccounts({ keys, ask, change, tell, confirmAbsence }: Connection): AccountVerbs {
  async function find(id: string): Promise<Account | undefined> {
    const text = await ask((client) => client.get(keys.account(id)))
    return text === null ? confirmAbsence() : parseAccount(text)
  }

  async function create(accounts: readonly Account[]): Promise<AccountCreation> {
    await confirmAbsence()
    const taken = await change(
      createScript,
      [keys.emails, keys.ids, ...accounts.map(({ id }) => keys.account(id))],
      accounts.flatMap((account) => [emailKey(account.email), account.id, accountText(account)]),
    )
    if (!Array.isArray(taken) || taken.length === 0) return { kind: 'created' }
    const indexes = new Set(taken)
    return {
      kind: 'exists',
      emails: accounts.filter((_, index) => indexes.has(index)).map(({ email }) => email),
    }
  }

  /** Reads, lets the account become another, and saves it; once more where someone else was faster. */
  async function replace(id: string, become: (account: Account) => Account): Promise<AccountUpdate> {
    for (;;) {
      const account = await find(id)
      if (!account) return { kind: 'unknown' }
      const next = become(account)
      const outcome = await change(
        saveScript,
        [keys.emails, keys.account(id)],
        [id, account.revision, emailKey(account.email), emailKey(next.email), accountText(next)],
      )
      if (outcome === 'exists') return { kind: 'exists' }
      if (outcome !== 'changed') {
        tell({ kind: 'account', accountId: id }, outcome)
        return { kind: 'updated', account: next }
      }
    }
  }

  async function replaced(id: string, become: (account: Account) => Account): Promise<Account | undefined> {
    const update = await replace(id, become)
    return update.kind === 'updated' ? update.account : undefined
  }

  /** With its sessions; once more where it got another meanwhile. */
  async function remove(id: string): Promise<boolean> {
    for (;;) {
      const sessions = await ask((client) => client.zrange(keys.sessionsOf(id), '0', '-1'))
      const outcome = await change(
        deleteScript,
        [keys.emails, keys.ids, keys.account(id), keys.sessionsOf(id), ...sessions.map(keys.session)],
        [id, ...sessions],
      )
      if (outcome === 0) await confirmAbsence()
      if (outcome !== 'changed') {
        tell({ kind: 'account', accountId: id }, outcome)
        return outcome !== 0
      }
    }
  }

  return {
    createAccounts: create,
    findAccount: find,
    findAccountByEmail: async (email) => {
      const id = await ask((client) => client.hget(keys.emails, emailKey(email)))
      return id === null ? confirmAbsence() : find(id)
    },
    listAccounts: async ({ after, limit }) => {
      const start = after === undefined ? '-' : `(${after}`
      const ids = await ask((client) => client.zrangebylex(keys.ids, start, '+', 'LIMIT', 0, limit))
      if (ids.length === 0) await confirmAbsence()
      const found = await Promise.all(ids.map(find))
      return found.filter((account) => account !== undefined)
    },
    updateAccount: (id, changes) => replace(id, (account) => withChanges(account, changes)),
    deleteAccount: remove,
    resetSecretKey: (id, reset) => replaced(id, (account) => withSecretKey(account, reset)),
    resetApiKey: (id, apiKey) => replaced(id, (account) => withApiKey(account, apiKey)),
    endSessions: async (id) => (await replaced(id, withoutSessions)) !== undefined,
  }
}
