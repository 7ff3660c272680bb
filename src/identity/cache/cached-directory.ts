import { findCompactKey } from '#platform/secrets/keys.ts'
import type { Clock, EpochMs, MonotonicClock } from '#platform/time.ts'
import type { AccountReader } from '#store/accounts.ts'
import type { LoggedChange } from '#store/changes.ts'
import { keyState } from '#store/secret-keys.ts'
import type { SessionStore } from '#store/sessions.ts'
import type { SubjectStore } from '#store/subjects.ts'
import type { CachedAccount, CachedSession, CachedSubject, Directory } from '../directory.ts'
import { isSecondFactorRequired, type SecondFactorPolicy } from '../second-factor/second-factors.ts'
import { createLru, createRevokedKeys } from './bounded-caches.ts'
import {
  accountKey,
  deserializeAccount,
  endedSession,
  type InstanceMemory,
  serializeAccount,
  sessionKey,
  signingKeysKey,
  subjectKey,
  toCachedAccount,
  toCachedSession,
  toCachedSubject,
} from './cached-records.ts'
import { createLoadingCache, type LookUpResult } from './loading-cache.ts'
import { createRecentChanges } from './recent-changes.ts'
import { isCurrent, type StoreConnectionState } from './store-connection.ts'

/** How much is cached, and how long it is fresh. */
interface CacheLimits {
  readonly entriesMax: number
  readonly ttlMs: number
  /** How long the absence of something is cached. */
  readonly negativeTtlMs: number
  /** How long cached data is used while the store is unreachable. */
  readonly maxStaleMs: number
}

export interface DirectoryOptions extends CacheLimits {
  readonly store: Pick<AccountReader, 'findAccount'> &
    Pick<SessionStore, 'findSession'> &
    Pick<SubjectStore, 'findBlockedSubject'>
  readonly storeConnection: Readonly<StoreConnectionState>
  /** How long an access token can be valid here: changes are kept for that long. */
  readonly tokenLifetimeMs: number
  /** How far the clock of a token's issuer may be ahead of ours, or behind. */
  readonly clockToleranceMs: number
  readonly requireSecondFactor: SecondFactorPolicy
  readonly clock: Clock
  /** For time spans. */
  readonly monotonic: MonotonicClock
  /** Called for every look-up of an account, or of a principal of a foreign issuer. */
  report(result: LookUpResult): void
  /** Applies every change made so far. @throws GatehouseError `store-unavailable` */
  confirm(): Promise<void>
  /** Reads what has changed while this process was stalled. */
  catchUp(): Promise<void>
  /** Reads the change log soon: called when data is used after `storeConnection.refreshAt`. */
  refresh(): void
  /** Shared with other workers; undefined = there are none. */
  readonly memory?: InstanceMemory | undefined
}

/** How many IDs without an account are cached at most: enough for a burst, few enough not to matter. */
const absentEntriesMax = 10_000
/** How many earlier states of accounts, and how many wrong keys, are kept at most. */
const formerEntriesMax = 10_000
/** The time of an access token is in whole seconds, rounded down (RFC 7519 2). */
const issuedWithinMs = 1_000

/** Accounts, sessions and principals of foreign issuers, cached in the process. */
export interface CachedDirectory extends Directory {
  /** Drops the entries that a change affects. */
  apply(change: LoggedChange): void
  /** Invalidates earlier decisions, as something else that they depend on has changed. */
  invalidateDecisions(): void
  clear(): void
}

export function createDirectory(options: DirectoryOptions): CachedDirectory {
  const {
    store,
    storeConnection,
    entriesMax,
    ttlMs,
    negativeTtlMs,
    maxStaleMs,
    clock,
    tokenLifetimeMs,
    clockToleranceMs,
    monotonic,
    memory,
    requireSecondFactor,
  } = options
  const recent = createRecentChanges(tokenLifetimeMs + clockToleranceMs, monotonic)
  const revokedKeys = createRevokedKeys(formerEntriesMax)
  const formerAccounts = createLru<CachedAccount>(formerEntriesMax)
  const shared = {
    entriesMax,
    ttlMs,
    maxStaleMs,
    absentEntriesMax,
    absentTtlMs: negativeTtlMs,
    storeConnection,
    hasChanged: recent.hasChanged,
    monotonic,
  }
  const accounts = createLoadingCache<CachedAccount>({
    ...shared,
    load: loadAccount,
    recall: memory && (async (id) => deserializeAccount(await memory.recall(accountKey(id)))),
    onLoaded:
      memory && ((id, account, begunAt) => memory.learn(accountKey(id), serializeAccount(account), begunAt)),
    report: options.report,
  })
  const sessions = createLoadingCache<CachedSession>({
    ...shared,
    load: async (id) => toCachedSession(await store.findSession(id)),
    // The cast is sound: a session is plain JSON, and was written by a process of the same version.
    recall: memory && (async (id) => (await memory.recall(sessionKey(id))) as CachedSession | undefined),
    onLoaded: memory && ((id, session, begunAt) => memory.learn(sessionKey(id), session, begunAt)),
    report: () => {},
  })
  const subjects = createLoadingCache<CachedSubject>({
    ...shared,
    load: async (id) => toCachedSubject(await store.findBlockedSubject(id)),
    // The cast is sound: it is plain JSON, and was written by a process of the same version.
    recall: memory && (async (id) => (await memory.recall(subjectKey(id))) as CachedSubject | undefined),
    onLoaded: memory && ((id, subject, begunAt) => memory.learn(subjectKey(id), subject, begunAt)),
    report: options.report,
  })

  let version = {}

  async function loadAccount(id: string): Promise<CachedAccount | undefined> {
    const account = toCachedAccount(await store.findAccount(id))
    const former = formerAccounts.get(id)
    for (const formerKey of former?.keys ?? []) {
      const digest = Buffer.from(formerKey.digest, 'latin1')
      const key = account && findCompactKey(account.keys, digest)
      if (!key || keyState(key, clock()) === 'revoked') revokedKeys.add(digest)
    }
    return account
  }

  function invalidateDecisions(): void {
    version = {}
  }

  function apply({ change, at }: LoggedChange): void {
    invalidateDecisions()
    switch (change.kind) {
      case 'account': {
        memory?.forget(accountKey(change.accountId))
        recent.record(change.accountId, at)
        const former = accounts.reload(change.accountId)
        if (former) formerAccounts.set(change.accountId, former)
        return
      }
      case 'session':
        memory?.forget(sessionKey(change.sessionId))
        recent.record(change.sessionId, at)
        sessions.set(change.sessionId, endedSession)
        return
      case 'signing-keys':
        memory?.forget(signingKeysKey)
        return
      case 'subject':
        memory?.forget(subjectKey(change.principalId))
        subjects.reload(change.principalId)
        return
      default:
        change satisfies never
    }
  }

  function clear(): void {
    invalidateDecisions()
    accounts.clear()
    sessions.clear()
    subjects.clear()
    // A change log that was restarted may have lost a reset: a key that was wrong may be valid again.
    formerAccounts.clear()
    revokedKeys.clear()
  }

  function isUnchangedSince(
    { accountId, sessionId }: Parameters<Directory['isUnchangedSince']>[0],
    time: EpochMs,
  ) {
    // The issuer's clock may be ahead of ours: by ours, the token may then be older, and changes since then count.
    const earliest = time - clockToleranceMs
    if (earliest < storeConnection.completeSince || earliest <= recent.forgottenUntil()) return false
    return !recent.hasChangedSince(accountId, earliest) && !recent.hasChangedSince(sessionId, earliest)
  }

  function isAccountNewerThan(accountId: string, issuedAt: EpochMs): boolean {
    // The issuer's clock may be behind ours: by ours, the token may then be newer.
    const latest = issuedAt + issuedWithinMs + clockToleranceMs
    return storeConnection.confirmedAt >= latest || recent.hasChangedSince(accountId, latest)
  }

  return {
    account: accounts.get,
    session: sessions.get,
    needsEnrolment: ({ isPasswordEnough, role }) =>
      isPasswordEnough && isSecondFactorRequired(role, requireSecondFactor),
    // The cast is sound: every load returns a value.
    subject: subjects.get as Directory['subject'],
    isUnchangedSince,
    isAccountNewerThan,
    confirm: options.confirm,
    isCurrent: (now, time) => {
      if (now >= storeConnection.refreshAt) options.refresh()
      return isCurrent(storeConnection, now, time)
    },
    catchUp: options.catchUp,
    version: () => (storeConnection.isUp ? version : undefined),
    countHit: () => options.report('hit'),
    revokedKeys,
    apply,
    invalidateDecisions,
    clear,
  }
}
