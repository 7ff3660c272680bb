import { withApiKey, withoutSessions, withSecretKey } from '../account-changes.ts'
import { ofAccount, ofSession, ofSigningKeys } from '../changes.ts'
import { createLocalRates } from '../local-rates.ts'
import type { Account, Change, LoggedChange, Store } from '../store.ts'
import { openAccounts } from './accounts.ts'
import { openChanges } from './changes.ts'
import { openDatabase } from './database.ts'
import { openSessions } from './sessions.ts'
import { openSigningKeys } from './signing-keys.ts'

export interface SqliteOptions {
  readonly path: string
  /** How long to wait for a writer in another process. */
  readonly busyTimeoutMs: number
}

/**
 * The store on one machine: a SQLite file in WAL mode, shared by the gateway and the command line.
 * @throws OperatorError where the file cannot be opened or made
 */
export function openSqliteStore({ path, busyTimeoutMs }: SqliteOptions): Store {
  const database = openDatabase(path, busyTimeoutMs)
  const accounts = openAccounts(database)
  const sessions = openSessions(database)
  const signingKeys = openSigningKeys(database)
  const changes = openChanges(database)
  const rates = createLocalRates(Date.now)
  const listeners: ((change: LoggedChange) => void)[] = []

  /** Writes, logs the change where there is one, and tells it once all is on disk. */
  async function change<Result>(
    work: () => Result,
    describe: (result: Result) => Change | undefined,
  ): Promise<Result> {
    const { result, logged } = database.write(() => {
      const result = work()
      const described = describe(result)
      return { result, logged: described && changes.append(described, Date.now()) }
    })
    if (logged) for (const listener of listeners) listener(logged)
    return result
  }

  function replace(id: string, become: (account: Account) => Account): Promise<Account | undefined> {
    return change(() => accounts.replace(id, become), ofAccount(id))
  }

  return {
    ready: async () => {},
    createAccounts: async (created) => database.write(() => accounts.create(created)),
    findAccount: async (id) => database.read(() => accounts.find(id)),
    findAccountByEmail: async (email) => database.read(() => accounts.findByEmail(email)),
    listAccounts: async ({ after = '', limit }) => database.read(() => accounts.list(after, limit)),
    updateAccount: (id, changed) =>
      change(
        () => accounts.change(id, changed),
        ({ kind }) => ofAccount(id)(kind === 'updated'),
      ),
    deleteAccount: (id) =>
      change(() => {
        sessions.removeAll(id)
        return accounts.remove(id)
      }, ofAccount(id)),
    resetSecretKey: (id, reset) => replace(id, (account) => withSecretKey(account, reset)),
    resetApiKey: (id, apiKey) => replace(id, (account) => withApiKey(account, apiKey)),

    startSession: async (started, { revision }) =>
      database.write(() => {
        const owner = accounts.find(started.accountId)
        if (!owner || owner.isDisabled || owner.revision !== revision) return 'account-changed'
        sessions.start(started, owner.sessionEpoch)
        return 'started'
      }),
    rotateSession: (use) =>
      change(
        () => sessions.rotate(use, accounts.find),
        (rotation) => ofSession(use.sessionId)(rotation.kind === 'over' && rotation.why === 'reused'),
      ),
    findSession: async (id) => database.read(() => sessions.find(id)),
    listSessions: async (accountId, now) =>
      database.read(() => {
        const owner = accounts.find(accountId)
        return owner ? sessions.list(owner, now) : []
      }),
    endSession: (id, reason) => change(() => sessions.end(id, reason), ofSession(id)),
    endSessions: async (accountId) => (await replace(accountId, withoutSessions)) !== undefined,

    listSigningKeys: async () => database.read(() => signingKeys.list()),
    addSigningKey: (key, unless) => change(() => signingKeys.add(key, unless), ofSigningKeys),
    retireSigningKey: (kid) => change(() => signingKeys.remove(kid), ofSigningKeys),

    // One process counts for itself: there is no other.
    takeToken: async (subject, rate) => rates.take(subject, rate),
    beat: async () => 1,

    readChanges: async (after) => database.read(() => changes.readAfter(after)),
    onChange: (listener) => void listeners.push(listener),
    close: async () => database.close(),
  }
}
