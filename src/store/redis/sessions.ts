import { sessionsByReplacing } from '../account-changes/by-replacing.ts'
import type { Account } from '../accounts.ts'
import {
  decideRotation,
  endOfSession,
  type RotationAdvance,
  retentionAfterEndMs,
  type Session,
  type SessionPosition,
  type SessionStore,
  type SessionsPage,
} from '../sessions.ts'
import type { AccountAccess } from './accounts.ts'
import { parseSession, sessionFields } from './data-layout.ts'
import type { Connection } from './open-connection.ts'
import { createOpenSessionIndex, type PositionReader } from './open-session-index.ts'
import { loadScript, pairsOf } from './scripts.ts'

const startScript = loadScript('start-session', { isLogged: true })
const rotateScript = loadScript('rotate-session')
const confirmScript = loadScript('confirm-session')
const acknowledgeScript = loadScript('acknowledge-rotations')
const endScript = loadScript('end-session', { isLogged: true, isAudited: true })

/** Sessions as hashes that expire by themselves, and an index of them for each account. */
export function createSessionStore(
  connection: Connection,
  { findAccount, replace }: AccountAccess,
): SessionStore {
  const { keys, ask, runDurably, runAudited, settle, notify, confirmAbsence, waitsForReplicas } = connection
  const openIndex = createOpenSessionIndex(connection, find)

  async function find(id: string): Promise<Session | undefined> {
    const fields = await ask((client) => client.hgetall(keys.session(id)))
    return parseSession(fields) ?? confirmAbsence()
  }

  /**
   * Reads the session, and then its account. No script can read both in one step: only the session names its account,
   * and a script may only read keys that it was given, as others may be on another node while a Cluster moves their
   * slot. Both are read in their current state, so a rejection is right; a rotation is made only if neither has changed
   * since.
   */
  async function findBoth(
    id: string,
  ): Promise<{ readonly session: Session | undefined; readonly account: Account | undefined }> {
    const session = await find(id)
    return { session, account: session && (await findAccount(session.accountId)) }
  }

  /** If there are too many sessions, the oldest end, as many at a time as one step may take. */
  const startSession: SessionStore['startSession'] = async (session, { revision, sessionEpoch }) => {
    const { id, accountId, createdAt, expiresAt, idleMs, openMax } = session
    const owner = { id: accountId, sessionEpoch }
    const livesUntil = endOfSession({ expiresAt, rotatedAt: createdAt }, idleMs)
    const times = [createdAt, livesUntil, livesUntil + retentionAfterEndMs]
    const args = [
      revision,
      id,
      ...times,
      sessionFields(session),
      createdAt,
      expiresAt + retentionAfterEndMs,
      openMax,
    ]
    const ownKeys = [
      keys.account(accountId),
      keys.session(id),
      keys.sessionsOf(accountId),
      keys.openSessionsOf(accountId, sessionEpoch),
    ]
    let isIndexed = 0
    let oldest: readonly string[] = []
    for (;;) {
      const reply = await runDurably(
        startScript,
        [...ownKeys, ...oldest.map(keys.session)],
        [...args, isIndexed, ...oldest],
      )
      const [outcome, excess, ...ended]: unknown[] = Array.isArray(reply) ? reply : []
      for (const [sessionId, position] of pairsOf(ended))
        notify({ kind: 'session', sessionId }, Number(position))
      if (outcome === 'started') return 'started'
      if (outcome === 'account-changed') return 'account-changed'
      if (outcome === 'not-indexed') {
        await openIndex.build(owner)
        isIndexed = 1
      } else oldest = await openIndex.oldest(owner, Number(excess))
    }
  }

  /** Decides about a use and carries it out; retried if session or account changed in between. */
  const rotateSession: SessionStore['rotateSession'] = async (use, reuseEntry) => {
    for (;;) {
      const { session: found, account } = await findBoth(use.sessionId)
      const decision = decideRotation(use, found, account)
      switch (decision.kind) {
        case 'refuse':
          return { kind: 'over', reason: decision.reason }
        case 'reuse': {
          // Of several uses at once, one ends the session.
          const isFirst = await endSession(use.sessionId, 'reused', reuseEntry?.(decision.account))
          return { kind: 'over', reason: isFirst ? 'reused' : 'revoked' }
        }
        case 'repeat': {
          const { session, account } = decision
          if (await confirm(session, account.revision)) return { kind: 'current', session, account }
          break
        }
        case 'advance': {
          const { session, account } = decision
          if (await advance(decision, use.idleMs)) return { kind: 'current', session, account }
          break
        }
        default:
          return decision satisfies never
      }
    }
  }

  async function advance({ previous, session, account }: RotationAdvance, idleMs: number): Promise<boolean> {
    const { id, accountId, generation, rotatedAt, address, userAgent } = session
    const livesUntil = endOfSession(session, idleMs)
    const advanced = await runDurably(
      rotateScript,
      [keys.account(accountId), keys.session(id), keys.sessionsOf(accountId)],
      [
        account.revision,
        previous.generation,
        generation,
        id,
        rotatedAt,
        livesUntil,
        livesUntil + retentionAfterEndMs,
        address,
        userAgent,
      ],
    )
    return advanced === 1
  }

  /**
   * The repeated rotation may have failed, or still be waiting, for lack of a replica: this waits for the replicas too,
   * so that no repeat is answered before the rotation is safe.
   * @returns false if something has changed
   */
  async function confirm({ id, accountId, generation }: Session, revision: number): Promise<boolean> {
    if (!waitsForReplicas) return true
    const sessionKeys = [keys.account(accountId), keys.session(id)]
    return (await runDurably(confirmScript, sessionKeys, [revision, generation])) === 1
  }

  /** Waits for the replicas: what is lost with the master would make a replaced token valid again. */
  const acknowledgeRotations: SessionStore['acknowledgeRotations'] = async (acknowledgements) => {
    const absent = await runDurably(
      acknowledgeScript,
      acknowledgements.map(({ sessionId }) => keys.session(sessionId)),
      acknowledgements.flatMap(({ generation, at }) => [generation, at]),
    )
    // Ended sessions, or data that is lost and may be restored: then they are acknowledged again.
    if (absent !== 0) await confirmAbsence()
  }

  const endSession: SessionStore['endSession'] = async (id, reason, audit) => {
    const session = await find(id)
    if (!session) return false
    const { accountId, sessionEpoch } = session
    const index = keys.openSessionsOf(accountId, sessionEpoch)
    return settle(
      { kind: 'session', sessionId: id },
      runAudited(endScript, [keys.session(id), index], [id, reason], audit),
    )
  }

  async function list<Item>(accountId: string, page: SessionsPage, read: PositionReader<Item>) {
    const account = await findAccount(accountId)
    return account ? openIndex.list(account, page, read) : []
  }

  async function readSessions(positions: readonly SessionPosition[]): Promise<readonly Session[]> {
    const found = await Promise.all(positions.map(({ id }) => find(id)))
    return found.filter((session) => session !== undefined).filter(({ end }) => end === undefined)
  }

  return {
    startSession,
    rotateSession,
    acknowledgeRotations,
    findSession: find,
    listSessions: (accountId, page) => list(accountId, page, readSessions),
    listSessionPositions: (accountId, page) => list(accountId, page, async (positions) => positions),
    endSession,
    ...sessionsByReplacing(replace),
  }
}
