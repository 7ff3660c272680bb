import type { StatementSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import type { EpochMs } from '#platform/time.ts'
import { sessionsByReplacing } from '../account-changes/by-replacing.ts'
import type { Account } from '../accounts.ts'
import {
  decideRotation,
  endOfSession,
  type NewSession,
  type RefreshTokenUse,
  type Rotation,
  retentionAfterEndMs,
  type Session,
  type SessionStore,
  type SessionsPage,
} from '../sessions.ts'
import type { AccountTable } from './accounts.ts'
import type { Database } from './database.ts'
import { insertOf, type Row, selectOf, toRow, valuesOf } from './rows.ts'
import type { Writer } from './writer.ts'

/** How many old rows are removed at each start of a session. */
const removalBatchMax = 20
/** How many sessions one step ends: this blocks the event loop for some milliseconds. */
const endedMax = 200

export function createSessionStore(
  { prepare, read, write }: Database,
  { writeAudited, changeRow }: Writer,
  accounts: AccountTable,
): SessionStore {
  const insert = prepare(`${insertOf('session')} ON CONFLICT (id) DO NOTHING`)
  const removeExpired = prepare(
    'DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE lives_until < ? LIMIT ?)',
  )
  const selectById = prepare(selectOf('session', 'WHERE id = ?'))
  const pageOfOpen = `WHERE account_id = ?1 AND session_epoch = ?2 AND end_reason IS NULL AND lives_until > ?3
       AND created_at <= ?4 AND (created_at < ?4 OR id > ?5)
     ORDER BY created_at DESC, id LIMIT ?6`
  const selectPage = prepare(selectOf('session', pageOfOpen))
  const selectPositions = prepare(`SELECT id, created_at FROM sessions ${pageOfOpen}`)
  const selectExcess = prepare(
    `SELECT id FROM sessions WHERE account_id = ? AND session_epoch = ? AND end_reason IS NULL AND lives_until > ?
     ORDER BY created_at DESC, id LIMIT ? OFFSET ?`,
  )
  const advance = prepare(
    `UPDATE sessions SET generation = ?, rotated_at = ?, acknowledged_at = NULL, lives_until = ?, address = ?, client = ?
     WHERE id = ?`,
  )
  const setAcknowledged = prepare(
    'UPDATE sessions SET acknowledged_at = ? WHERE id = ? AND generation = ? AND acknowledged_at IS NULL',
  )
  const setEnd = prepare('UPDATE sessions SET end_reason = ? WHERE id = ? AND end_reason IS NULL')

  function find(id: string): Session | undefined {
    const row = selectById.get(id)
    return row && toSession(row)
  }

  function start(session: NewSession, sessionEpoch: number): void {
    const { createdAt, expiresAt, idleMs, visitor } = session
    removeExpired.run(createdAt - retentionAfterEndMs, removalBatchMax)
    const times = { rotatedAt: createdAt, acknowledgedAt: createdAt }
    const livesUntil = endOfSession({ expiresAt, rotatedAt: createdAt }, idleMs)
    const state = { ...times, livesUntil, sessionEpoch, generation: 1, end: null }
    insert.run(toRow({ kind: 'session', ...session, ...visitor, ...state }))
  }

  /**
   * Ends an account's sessions beyond the newest ones, some at a time.
   * @returns the IDs of those ended: fewer than `endedMax` = there are no more
   */
  function endOldest(account: Pick<Account, 'id' | 'sessionEpoch'>, now: EpochMs, kept: number) {
    const excess = selectExcess.all(account.id, account.sessionEpoch, now, endedMax, kept)
    const ids = excess.map(({ id }) => String(id))
    for (const id of ids) setEnd.run('revoked', id)
    return ids
  }

  /** @returns also the account whose session it has ended */
  function rotate(use: RefreshTokenUse): { readonly rotation: Rotation; readonly reusedOf?: Account } {
    const session = find(use.sessionId)
    const account = session && accounts.find(session.accountId)
    const decision = decideRotation(use, session, account)
    switch (decision.kind) {
      case 'refuse':
        return { rotation: { kind: 'over', reason: decision.reason } }
      case 'reuse':
        setEnd.run('reused', use.sessionId)
        return { rotation: { kind: 'over', reason: 'reused' }, reusedOf: decision.account }
      case 'repeat':
        return { rotation: { kind: 'current', session: decision.session, account: decision.account } }
      case 'advance': {
        const { session, account } = decision
        const { generation, rotatedAt, address, userAgent, id } = session
        const livesUntil = endOfSession(session, use.idleMs)
        advance.run(generation, rotatedAt, livesUntil, address, userAgent, id)
        return { rotation: { kind: 'current', session, account } }
      }
      default:
        return decision satisfies never
    }
  }

  function listPage(statement: StatementSync, accountId: string, page: SessionsPage) {
    const owner = accounts.find(accountId)
    return owner ? statement.all(...pageArguments(owner, page)) : []
  }

  return {
    startSession: async (started, { revision }) => {
      const { accountId, createdAt, openMax } = started
      for (;;) {
        const { outcome } = await writeAudited(
          () => {
            const owner = accounts.find(accountId)
            if (!owner || owner.isDisabled || owner.revision !== revision) {
              return { outcome: 'account-changed' as const, ended: [] }
            }
            const ended = endOldest(owner, createdAt, openMax - 1)
            if (ended.length === endedMax) return { outcome: 'too-many' as const, ended }
            start(started, owner.sessionEpoch)
            return { outcome: 'started' as const, ended }
          },
          ({ ended }) => ended.map((sessionId) => ({ kind: 'session', sessionId })),
        )
        if (outcome !== 'too-many') return outcome
        await setImmediate()
      }
    },
    rotateSession: async (use, reuseEntry) => {
      const { rotation } = await writeAudited(
        () => rotate(use),
        ({ reusedOf }) => reusedOf && [{ kind: 'session', sessionId: use.sessionId }],
        ({ reusedOf }) => (reusedOf && reuseEntry ? [reuseEntry(reusedOf)] : []),
      )
      return rotation
    },
    acknowledgeRotations: (acknowledgements) =>
      write(() => {
        for (const { sessionId, generation, at } of acknowledgements)
          setAcknowledged.run(at, sessionId, generation)
      }),
    findSession: async (id) => read(() => find(id)),
    listSessions: async (accountId, page) => read(() => listPage(selectPage, accountId, page).map(toSession)),
    listSessionPositions: async (accountId, page) =>
      read(() =>
        listPage(selectPositions, accountId, page).map((row) => ({
          id: String(row.id),
          createdAt: Number(row.created_at),
        })),
      ),
    endSession: (id, reason, audit) =>
      changeRow(() => setEnd.run(reason, id), { kind: 'session', sessionId: id }, audit),
    ...sessionsByReplacing(accounts.replace),
  }
}

function pageArguments({ id, sessionEpoch }: Account, { now, after, limit }: SessionsPage) {
  const { createdAt, id: lastId } = after ?? { createdAt: Number.MAX_SAFE_INTEGER, id: '' }
  return [id, sessionEpoch, now, createdAt, lastId, limit]
}

function toSession(row: Row): Session {
  const { livesUntil: _, acknowledgedAt, end, ...session } = valuesOf('session', row)
  return {
    ...session,
    acknowledgedAt: acknowledgedAt ?? undefined,
    end: end === 'revoked' || end === 'reused' ? end : undefined,
  }
}
