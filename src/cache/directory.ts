import type { Directory, KnownAccount, KnownSession } from '../auth/principal.ts'
import type { Account, Change, Session, Store } from '../store/store.ts'
import { createLoadingCache, type LookUp } from './loading-cache.ts'

export interface DirectoryOptions {
  readonly store: Pick<Store, 'findAccount' | 'findSession'>
  readonly entriesMax: number
  readonly ttlMs: number
  readonly negativeTtlMs: number
  readonly clock: () => number
  /** Told of every look-up of an account. */
  report(result: LookUp): void
}

/** Made-up accounts remembered at most: enough for a burst, too few to matter. */
const absentEntriesMax = 10_000

/** Accounts and sessions, kept in the process before the store. */
export interface CachedDirectory extends Directory {
  /** Forgets what a change is about. */
  apply(change: Change): void
  clear(): void
}

export function createDirectory(options: DirectoryOptions): CachedDirectory {
  const { store, entriesMax, ttlMs, negativeTtlMs, clock, report } = options
  const shared = { entriesMax, ttlMs, absentEntriesMax, absentTtlMs: negativeTtlMs, clock }
  const accounts = createLoadingCache<KnownAccount>({
    ...shared,
    load: async (id) => toKnownAccount(await store.findAccount(id)),
    report,
  })
  const sessions = createLoadingCache<KnownSession>({
    ...shared,
    load: async (id) => toKnownSession(await store.findSession(id)),
    report: () => {},
  })

  function apply(change: Change): void {
    switch (change.kind) {
      case 'account':
        accounts.drop(change.accountId)
        return
      case 'session':
        sessions.drop(change.sessionId)
        return
      case 'signing-keys':
        return
      default:
        change satisfies never
    }
  }

  function clear(): void {
    accounts.clear()
    sessions.clear()
  }

  return { account: accounts.get, session: sessions.get, apply, clear }
}

function toKnownAccount(account: Account | undefined): KnownAccount | undefined {
  if (!account) return undefined
  const { id, role, email, firstName, lastName, isVerified, isDisabled, sessionEpoch } = account
  return {
    isDisabled,
    sessionEpoch,
    secretKey: { digest: account.secretKey.digest },
    previousSecretKey: account.previousSecretKey,
    principal: {
      ...{ accountId: id, role, email, firstName, lastName, isVerified },
      scheme: 'secretKey',
      sessionId: undefined,
    },
  }
}

function toKnownSession(session: Session | undefined): KnownSession | undefined {
  if (!session) return undefined
  const { accountId, sessionEpoch, end } = session
  return { accountId, sessionEpoch, isEnded: end !== undefined }
}
