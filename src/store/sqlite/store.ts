import { setImmediate } from 'node:timers/promises'
import { monotonicClock } from '../../platform/clock.ts'
import type { Account } from '../account.ts'
import { withApiKey, withoutSessions, withSecretKey } from '../account-changes.ts'
import type { AuditEntry } from '../audit-entry.ts'
import { accountChange, sessionChange, signingKeysChange } from '../changes.ts'
import { createLocalRates } from '../local-rates.ts'
import { search } from '../search.ts'
import type { Store } from '../store.ts'
import { openAccountTable } from './accounts.ts'
import { openDatabase } from './database.ts'
import { openKeyUseTable } from './key-uses.ts'
import { openPortal } from './portal.ts'
import { openPortalSessionTable } from './portal-sessions.ts'
import { openSessionTable, sessionBatchMax } from './sessions.ts'
import { openSigningKeyTable } from './signing-keys.ts'
import { openStoreRow } from './store-row.ts'
import { openWriter } from './writer.ts'

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
  const accounts = openAccountTable(database)
  const sessions = openSessionTable(database)
  const signingKeys = openSigningKeyTable(database)
  const portalSessions = openPortalSessionTable(database)
  const keyUses = openKeyUseTable(database)
  const storeRow = openStoreRow(database)
  const writer = openWriter(database)
  const { changes, writeChange, writeChanges, writeUncached } = writer
  const rates = createLocalRates(monotonicClock)

  function replace(
    id: string,
    transform: (account: Account) => Account | undefined,
    audit: AuditEntry | undefined,
  ): Promise<Account | undefined> {
    return writeChange(() => accounts.replace(id, transform), accountChange(id), audit)
  }

  return {
    ready: async () => {},
    createAccounts: (created, audit) =>
      writeUncached(
        () => accounts.create(created),
        ({ kind }) => kind === 'created',
        audit,
      ),
    findAccount: async (id) => database.read(() => accounts.find(id)),
    findAccountByEmail: async (email) => database.read(() => accounts.findByEmail(email)),
    listAccounts: async (page) => database.read(() => accounts.list(page)),
    searchAccounts: (page) =>
      search(
        {
          find: async (prefix, after, limit) => database.read(() => accounts.findTerms(prefix, after, limit)),
          load: async (ids) => database.read(() => ids.map(accounts.find)),
        },
        page,
      ),
    updateAccount: (id, changed, audit) =>
      writeChange(
        () => accounts.change(id, changed),
        ({ kind }) => accountChange(id)(kind === 'updated'),
        audit,
      ),
    deleteAccount: async (id, audit) => {
      let hasMore = false
      const isRemoved = await writeChange(
        () => {
          for (const table of [portalSessions, keyUses]) table.removeAll(id)
          hasMore = sessions.removeSome(id)
          return accounts.remove(id)
        },
        accountChange(id),
        audit,
      )
      // Without the account they are over; what a crash leaves of them is cleared later.
      while (hasMore) {
        await setImmediate()
        hasMore = await database.write(() => sessions.removeSome(id))
      }
      return isRemoved
    },
    resetSecretKey: (id, reset, audit) => replace(id, (account) => withSecretKey(account, reset), audit),
    resetApiKey: (id, reset, audit) => replace(id, (account) => withApiKey(account, reset), audit),

    startSession: async (started, { revision }) => {
      const { accountId, createdAt, openMax } = started
      for (;;) {
        const { outcome } = await writeChanges(
          () => {
            const owner = accounts.find(accountId)
            if (!owner || owner.isDisabled || owner.revision !== revision) {
              return { outcome: 'account-changed' as const, ended: [] }
            }
            const ended = sessions.endOldest(owner, createdAt, openMax - 1)
            if (ended.length === sessionBatchMax) return { outcome: 'too-many' as const, ended }
            sessions.start(started, owner.sessionEpoch)
            return { outcome: 'started' as const, ended }
          },
          ({ ended }) => ended.map((sessionId) => ({ kind: 'session', sessionId })),
        )
        if (outcome !== 'too-many') return outcome
        await setImmediate()
      }
    },
    rotateSession: (use) =>
      writeChange(
        () => sessions.rotate(use, accounts.find),
        (rotation) => sessionChange(use.sessionId)(rotation.kind === 'over' && rotation.reason === 'reused'),
      ),
    acknowledgeRotations: (acknowledgements) => database.write(() => sessions.acknowledge(acknowledgements)),
    findSession: async (id) => database.read(() => sessions.find(id)),
    listSessions: async (accountId, page) =>
      database.read(() => {
        const owner = accounts.find(accountId)
        return owner ? sessions.list(owner, page) : []
      }),
    endSession: (id, reason, audit) => writeChange(() => sessions.end(id, reason), sessionChange(id), audit),
    endSessions: async (accountId, audit) => (await replace(accountId, withoutSessions, audit)) !== undefined,

    ...openPortal(database, writer, { accounts, portalSessions, keyUses }),

    listSigningKeys: async () => database.read(() => signingKeys.list()),
    addSigningKey: (key, unless, audit) =>
      writeChange(() => signingKeys.add(key, unless), signingKeysChange, audit),
    retireSigningKey: (kid, audit) => writeChange(() => signingKeys.remove(kid), signingKeysChange, audit),

    // Counted in this process: there is no other.
    takeFromRate: async (subject, rate) => rates.take(subject, rate),
    heartbeat: async () => 1,

    readChanges: async (after) =>
      database.read(() => {
        database.assertInPlace()
        storeRow.assertSame()
        return changes.readAfter(after)
      }),
    probeWrite: () => database.write(storeRow.probe),
    onWrite: database.onWrite,
    findRisks: async () => [],
    onChange: writer.onChange,
    close: async () => database.close(),
  }
}
