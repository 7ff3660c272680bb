import { judgeRefreshToken } from '../judge-refresh-token.ts'
import type { Account, NewSession, RefreshTokenUse, Rotation, Session, SessionEnd } from '../store.ts'
import type { Database } from './database.ts'

/** How long a row outlives its session, and how many old rows are removed at each start of a session. */
const keptAfterEndMs = 24 * 3_600_000
const clearedAtOnce = 20

/** The sessions table. Every function is to be called within a read or a write. */
export function openSessions({ prepare }: Database) {
  const insert = prepare(
    `INSERT INTO sessions
       (id, account_id, created_at, expires_at, lives_until, generation, rotated_at, session_epoch, address, client)
     VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, ?)`,
  )
  const clear = prepare(
    'DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE lives_until < ? LIMIT ?)',
  )
  const selectById = prepare('SELECT * FROM sessions WHERE id = ?')
  const selectByAccount = prepare(
    `SELECT * FROM sessions WHERE account_id = ? AND end_reason IS NULL AND lives_until > ? AND session_epoch = ?
     ORDER BY created_at DESC, id`,
  )
  const advance = prepare(
    `UPDATE sessions SET generation = ?, rotated_at = ?, lives_until = ?, address = ?, client = ? WHERE id = ?`,
  )
  const setEnd = prepare('UPDATE sessions SET end_reason = ? WHERE id = ? AND end_reason IS NULL')
  const removeByAccount = prepare('DELETE FROM sessions WHERE account_id = ?')

  function find(id: string): Session | undefined {
    const row = selectById.get(id)
    return row && toSession(row)
  }

  function start(session: NewSession, sessionEpoch: number): void {
    const { id, accountId, createdAt, expiresAt, idleMs, visitor } = session
    clear.run(createdAt - keptAfterEndMs, clearedAtOnce)
    const livesUntil = Math.min(expiresAt, createdAt + idleMs)
    const times = [createdAt, expiresAt, livesUntil, createdAt]
    insert.run(id, accountId, ...times, sessionEpoch, visitor.address, visitor.userAgent)
  }

  function rotate(use: RefreshTokenUse, findAccount: (id: string) => Account | undefined): Rotation {
    const session = find(use.sessionId)
    const account = session && findAccount(session.accountId)
    const verdict = judgeRefreshToken(use, session, account)
    switch (verdict.kind) {
      case 'refuse':
        if (verdict.why === 'reused') setEnd.run('reused', use.sessionId)
        return { kind: 'over', why: verdict.why }
      case 'repeat':
        return { kind: 'current', session: verdict.session, account: verdict.account }
      case 'advance': {
        const advanced = {
          ...verdict.session,
          generation: verdict.session.generation + 1,
          rotatedAt: use.now,
          ...use.visitor,
        }
        const livesUntil = Math.min(advanced.expiresAt, use.now + use.idleMs)
        const { generation, rotatedAt, address, userAgent, id } = advanced
        advance.run(generation, rotatedAt, livesUntil, address, userAgent, id)
        return { kind: 'current', session: advanced, account: verdict.account }
      }
      default:
        return verdict satisfies never
    }
  }

  return {
    find,
    start,
    rotate,
    list: ({ id, sessionEpoch }: Account, now: number) =>
      selectByAccount.all(id, now, sessionEpoch).map(toSession),
    end: (id: string, reason: SessionEnd) => Number(setEnd.run(reason, id).changes) > 0,
    removeAll: (accountId: string) => void removeByAccount.run(accountId),
  }
}

function toSession(row: Record<string, unknown>): Session {
  const end = row.end_reason
  return {
    id: String(row.id),
    accountId: String(row.account_id),
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
    generation: Number(row.generation),
    rotatedAt: Number(row.rotated_at),
    sessionEpoch: Number(row.session_epoch),
    end: end === 'revoked' || end === 'reused' ? end : undefined,
    address: String(row.address),
    userAgent: String(row.client),
  }
}
