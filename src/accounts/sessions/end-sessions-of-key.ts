import type { Account } from '#store/account.ts'
import { portalEpochIn } from '#store/secret-keys.ts'
import type { SessionStore } from '#store/sessions.ts'

/** How many sessions are read at once. */
const batchSize = 100

/**
 * Ends the sessions of keys that an account does not have any more: they are over without their key, but would be
 * listed, and count against `limits.sessions`. What a crash leaves behind expires.
 */
export async function endSessionsOfKey(
  store: Pick<SessionStore, 'listSessions' | 'endSession'>,
  before: Account,
  after: Account,
  now: number,
): Promise<void> {
  const kept = new Set(after.secretKeys.map(({ id }) => id))
  const isOver =
    before.sessionEpoch !== after.sessionEpoch || before.secretKeys.every(({ id }) => kept.has(id))
  if (isOver) return
  let position: { readonly id: string; readonly createdAt: number } | undefined
  for (;;) {
    const sessions = await store.listSessions(after.id, { now, after: position, limit: batchSize })
    position = sessions.at(-1)
    const ended = sessions.filter(({ keyId }) => !kept.has(keyId) && portalEpochIn(keyId) === undefined)
    await Promise.all(ended.map(({ id }) => store.endSession(id, 'revoked')))
    if (sessions.length < batchSize) return
  }
}
