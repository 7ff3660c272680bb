import type { Directory, KnownAccount, KnownSession } from '../auth/principal.ts'
import type { Account, LoggedChange, Session, Store } from '../store/store.ts'
import type { Contact } from './contact.ts'
import { createLoadingCache, type LookUp } from './loading-cache.ts'
import { createRecentChanges } from './recent-changes.ts'

export interface DirectoryOptions {
  readonly store: Pick<Store, 'findAccount' | 'findSession'>
  readonly contact: Readonly<Contact>
  readonly entriesMax: number
  readonly ttlMs: number
  readonly negativeTtlMs: number
  readonly maxStaleMs: number
  /** How long an access token can be valid: changes are remembered for as long. */
  readonly tokenLifetimeMs: number
  readonly clock: () => number
  /** Told of every look-up of an account. */
  report(result: LookUp): void
}

/** Made-up accounts remembered at most: enough for a burst, too few to matter. */
const absentEntriesMax = 10_000

/** Accounts and sessions, kept in the process before the store. */
export interface CachedDirectory extends Directory {
  /** Forgets what a change is about. */
  apply(change: LoggedChange): void
  clear(): void
}

export function createDirectory(options: DirectoryOptions): CachedDirectory {
  const { store, contact, entriesMax, ttlMs, negativeTtlMs, maxStaleMs, tokenLifetimeMs, clock, report } =
    options
  const shared = {
    entriesMax,
    ttlMs,
    maxStaleMs,
    absentEntriesMax,
    absentTtlMs: negativeTtlMs,
    contact,
    clock,
  }
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
  const recent = createRecentChanges(tokenLifetimeMs, clock)

  function apply({ change, at }: LoggedChange): void {
    switch (change.kind) {
      case 'account':
        accounts.drop(change.accountId)
        recent.note(change.accountId, at)
        return
      case 'session':
        sessions.drop(change.sessionId)
        recent.note(change.sessionId, at)
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

  function isUnchangedSince(
    { accountId, sessionId }: Parameters<Directory['isUnchangedSince']>[0],
    time: number,
  ) {
    if (time < contact.completeSince || time <= recent.forgottenUntil()) return false
    return !recent.hasChangedSince(accountId, time) && !recent.hasChangedSince(sessionId, time)
  }

  return { account: accounts.get, session: sessions.get, isUnchangedSince, apply, clear }
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
      ...{ accountId: id, role, scheme: 'secretKey', sessionId: undefined },
      profile: { email, firstName, lastName, isVerified },
    },
  }
}

function toKnownSession(session: Session | undefined): KnownSession | undefined {
  if (!session) return undefined
  const { accountId, sessionEpoch, end } = session
  return { accountId, sessionEpoch, isEnded: end !== undefined }
}
