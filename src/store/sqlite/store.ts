import { setImmediate } from 'node:timers/promises'
import { monotonicClock } from '../../clock.ts'
import { withApiKey, withoutSessions, withSecretKey } from '../account-changes.ts'
import type { AuditEntry } from '../audit.ts'
import { ofAccount, ofSession, ofSigningKeys } from '../changes.ts'
import { createLocalRates } from '../local-rates.ts'
import { search } from '../search.ts'
import type { Account, Store } from '../store.ts'
import { openAccounts } from './accounts.ts'
import { openDatabase } from './database.ts'
import { openKeyUses } from './key-uses.ts'
import { openPortal } from './portal.ts'
import { openPortalSessions } from './portal-sessions.ts'
import { openSessions, sessionsAtOnce } from './sessions.ts'
import { openSigningKeys } from './signing-keys.ts'
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
  const accounts = openAccounts(database)
  const sessions = openSessions(database)
  const signingKeys = openSigningKeys(database)
  const portalSessions = openPortalSessions(database)
  const keyUses = openKeyUses(database)
  const storeRow = openStoreRow(database)
  const writer = openWriter(database)
  const { changes, change, changeMany, act } = writer
  const rates = createLocalRates(monotonicClock)

  function replace(
    id: string,
    become: (account: Account) => Account | undefined,
    audit: AuditEntry | undefined,
  ): Promise<Account | undefined> {
    return change(() => accounts.replace(id, become), ofAccount(id), audit)
  }

  return {
    ready: async () => {},
    createAccounts: (created, audit) =>
      act(
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
      change(
        () => accounts.change(id, changed),
        ({ kind }) => ofAccount(id)(kind === 'updated'),
        audit,
      ),
    deleteAccount: async (id, audit) => {
      let isMore = false
      const isRemoved = await change(
        () => {
          for (const table of [portalSessions, keyUses]) table.removeAll(id)
          isMore = sessions.removeSome(id)
          return accounts.remove(id)
        },
        ofAccount(id),
        audit,
      )
      // Without the account they are over; what a crash leaves of them is cleared later.
      while (isMore) {
        await setImmediate()
        isMore = await database.write(() => sessions.removeSome(id))
      }
      return isRemoved
    },
    resetSecretKey: (id, reset, audit) => replace(id, (account) => withSecretKey(account, reset), audit),
    resetApiKey: (id, reset, audit) => replace(id, (account) => withApiKey(account, reset), audit),

    startSession: async (started, { revision }) => {
      const { accountId, createdAt, openMax } = started
      for (;;) {
        const { outcome } = await changeMany(
          () => {
            const owner = accounts.find(accountId)
            if (!owner || owner.isDisabled || owner.revision !== revision) {
              return { outcome: 'account-changed' as const, ended: [] }
            }
            const ended = sessions.endBeyond(owner, createdAt, openMax - 1)
            if (ended.length === sessionsAtOnce) return { outcome: 'too-many' as const, ended }
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
      change(
        () => sessions.rotate(use, accounts.find),
        (rotation) => ofSession(use.sessionId)(rotation.kind === 'over' && rotation.why === 'reused'),
      ),
    acknowledgeRotations: (given) => database.write(() => sessions.acknowledgeAll(given)),
    findSession: async (id) => database.read(() => sessions.find(id)),
    listSessions: async (accountId, page) =>
      database.read(() => {
        const owner = accounts.find(accountId)
        return owner ? sessions.list(owner, page) : []
      }),
    endSession: (id, reason, audit) => change(() => sessions.end(id, reason), ofSession(id), audit),
    endSessions: async (accountId, audit) => (await replace(accountId, withoutSessions, audit)) !== undefined,

    ...openPortal(database, writer, { accounts, portalSessions, keyUses }),

    listSigningKeys: async () => database.read(() => signingKeys.list()),
    addSigningKey: (key, unless, audit) => change(() => signingKeys.add(key, unless), ofSigningKeys, audit),
    retireSigningKey: (kid, audit) => change(() => signingKeys.remove(kid), ofSigningKeys, audit),

    // Counted in this process: there is no other.
    takeFromRate: async (subject, rate) => rates.take(subject, rate),
    beat: async () => 1,

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
