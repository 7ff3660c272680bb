import { portalEpochIn } from '#store/secret-keys.ts'
import type { SessionStore } from '#store/sessions.ts'

/**
 * Ends the token session that belongs to a portal session, and with it the access cookie of that browser. To be called
 * before the portal session ends: where the process fails in between, the portal session is over too.
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
