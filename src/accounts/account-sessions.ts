import { setImmediate } from 'node:timers/promises'
import type { Clock, EpochMs } from '#platform/time.ts'
import type { Account } from '#store/accounts.ts'
import type { PortalSession, PortalStore } from '#store/portal.ts'
import {
  endOfSession,
  portalEpochIn,
  type Session,
  type SessionPosition,
  type SessionStore,
  type SessionsPage,
} from '#store/sessions.ts'
import type { AccountLookup } from './account-input.ts'
import type { AuditEntryFactory } from './audit-log.ts'
import { type ListPosition, type Page, type PageRequest, pageOf, parseListCursor } from './pages.ts'

/** The sessions of an account. All methods throw GatehouseError `account-not-found` for an unknown ID or e-mail. */
export interface AccountSessions {
  /** Open token sessions, newest first. `expiresAt` is when a session ends without a refresh. */
  list(idOrEmail: string): Promise<readonly Session[]>
  /**
   * Open token sessions, a page at a time; sessions that start or end meanwhile do not shift the other pages.
   * @throws GatehouseError `request-invalid` (field `cursor`)
   */
  page(idOrEmail: string, page: PageRequest): Promise<Page<Session>>
  /**
   * Ends one session with its access tokens, and the portal session that it belongs to; false where this account has no
   * such open session.
   */
  end(idOrEmail: string, sessionId: string): Promise<boolean>
  /** Ends all token sessions and portal sessions. @returns the IDs of those that were open */
  endAll(idOrEmail: string): Promise<readonly string[]>
  /** Ends all token sessions, and the portal sessions that they belong to. @returns as `endAll` */
  endAllTokens(idOrEmail: string): Promise<readonly string[]>
  /** Browsers that are signed in to the portal, newest first. */
  listPortal(idOrEmail: string): Promise<readonly PortalSession[]>
  /** Ends one portal session; false if this account has no such open session. */
  endPortal(idOrEmail: string, sessionId: string): Promise<boolean>
  endAllPortal(idOrEmail: string): Promise<readonly string[]>
}

/** How many sessions are read at once: this blocks the event loop for some milliseconds. */
const readBatchSize = 100

interface AccountSessionsOptions {
  readonly store: SessionStore &
    Pick<PortalStore, 'listPortalSessions' | 'endPortalSession' | 'endPortalSessions'>
  readonly accounts: AccountLookup
  readonly entry: AuditEntryFactory
  readonly clock: Clock
  /** How long a session lives without a refresh. */
  readonly refreshIdleMs: number
}

/** The part of a list to read; default: all of it. */
interface Part {
  readonly after?: ListPosition | undefined
  readonly limit?: number
}

/** Reads pages in their order, in batches, so that other requests are served in between. */
async function* readBatches<Item extends SessionPosition>(
  readPage: (page: SessionsPage) => Promise<readonly Item[]>,
  now: EpochMs,
  { after, limit = Number.POSITIVE_INFINITY }: Part = {},
) {
  let position = after
  let left = limit
  while (left > 0) {
    const wanted = Math.min(readBatchSize, left)
    const slice = await readPage({ now, after: position, limit: wanted })
    yield slice
    if (slice.length < wanted) return
    left -= wanted
    position = slice.at(-1)
    await setImmediate()
  }
}

export function createAccountSessions(options: AccountSessionsOptions): AccountSessions {
  const { store, accounts, entry, clock, refreshIdleMs } = options

  async function read(idOrEmail: string, part: Part = {}): Promise<readonly Session[]> {
    const account = await accounts.get(idOrEmail)
    const found: Session[] = []
    const readPage = (page: SessionsPage) => store.listSessions(account.id, page)
    for await (const slice of readBatches(readPage, clock(), part)) {
      for (const session of slice) found.push({ ...session, expiresAt: endOfSession(session, refreshIdleMs) })
    }
    return found
  }

  async function listPortal(idOrEmail: string): Promise<readonly PortalSession[]> {
    const account = await accounts.get(idOrEmail)
    return store.listPortalSessions(account.id, clock())
  }

  async function end(idOrEmail: string, sessionId: string): Promise<boolean> {
    const account = await accounts.get(idOrEmail)
    const session = await store.findSession(sessionId)
    const isOpen =
      session?.accountId === account.id && session.sessionEpoch === account.sessionEpoch && !session.end
    if (!isOpen) return false
    // The portal session ends first: if the process fails in between, the token session is still listed.
    if (portalEpochIn(session.keyId) !== undefined) await store.endPortalSession(account.id, sessionId)
    return store.endSession(sessionId, 'revoked', entry('session-ended', account, { sessionId }))
  }

  async function endAllTokens(idOrEmail: string): Promise<readonly string[]> {
    const account = await accounts.get(idOrEmail)
    const inPortal = new Set((await listPortal(account.id)).map((session) => session.id))
    // Only positions are read: whole sessions, if there are many, would burden the garbage collector.
    const open: string[] = []
    const paired: string[] = []
    const readPage = (page: SessionsPage) => store.listSessionPositions(account.id, page)
    for await (const slice of readBatches(readPage, clock())) {
      for (const session of slice) {
        open.push(session.id)
        if (inPortal.has(session.id)) paired.push(session.id)
      }
    }
    await Promise.all(paired.map((sessionId) => store.endPortalSession(account.id, sessionId)))
    await store.endSessions(account.id, entry('sessions-ended', account, { sessions: open.length }))
    return open
  }

  async function endAllPortal(idOrEmail: string): Promise<readonly string[]> {
    const account = await accounts.get(idOrEmail)
    const open = await listPortal(account.id)
    const auditEntry = entry('portal-sessions-ended', account, { sessions: open.length })
    await Promise.all(open.map((session) => endPairedSession(store, account.id, session.id)))
    await store.endPortalSessions(account.id, auditEntry)
    return open.map((session) => session.id)
  }

  return {
    list: (idOrEmail) => read(idOrEmail),
    page: async (idOrEmail, { cursor, limit }) => {
      const after = cursor === undefined ? undefined : parseListCursor(cursor)
      return pageOf(await read(idOrEmail, { after, limit: limit + 1 }), limit, (session) => session)
    },
    end,
    // The portal sessions end first, and their tokens with them: a browser that is still signed in would get new
    // tokens.
    endAll: async (idOrEmail) => [...(await endAllPortal(idOrEmail)), ...(await endAllTokens(idOrEmail))],
    endAllTokens,
    listPortal,
    endPortal: async (idOrEmail, sessionId) => {
      const account = await accounts.get(idOrEmail)
      const auditEntry = entry('portal-session-ended', account, { sessionId })
      await endPairedSession(store, account.id, sessionId)
      return store.endPortalSession(account.id, sessionId, auditEntry)
    },
    endAllPortal,
  }
}

/**
 * Ends the sessions of keys that an account no longer has. They are invalid without their key, but would still be
 * listed and count against `limits.sessions`. If a crash leaves some of them, they expire.
 */
export async function endSessionsOfLostKeys(
  store: Pick<SessionStore, 'listSessions' | 'endSession'>,
  before: Account,
  after: Account,
  now: EpochMs,
): Promise<void> {
  const kept = new Set(after.secretKeys.map(({ id }) => id))
  // All sessions have ended with the epoch, or no key was lost.
  const hasNothingToEnd =
    before.sessionEpoch !== after.sessionEpoch || before.secretKeys.every(({ id }) => kept.has(id))
  if (hasNothingToEnd) return
  for await (const sessions of readBatches((page) => store.listSessions(after.id, page), now)) {
    const ended = sessions.filter(({ keyId }) => !kept.has(keyId) && portalEpochIn(keyId) === undefined)
    await Promise.all(ended.map(({ id }) => store.endSession(id, 'revoked')))
  }
}

/**
 * Ends the token session that belongs to a portal session, and with it the access cookie of that browser. Call this
 * before ending the portal session: if the process fails in between, that is over too, as it ends with its tokens.
 */
export async function endPairedSession(
  store: Pick<SessionStore, 'findSession' | 'endSession'>,
  accountId: string,
  portalSessionId: string,
): Promise<void> {
  const session = await store.findSession(portalSessionId)
  const isPaired = session?.accountId === accountId && portalEpochIn(session.keyId) !== undefined
  if (isPaired && session.end === undefined) await store.endSession(portalSessionId, 'revoked')
}
