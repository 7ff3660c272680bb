import type { SessionsPart } from '../../portal/sessions.ts'
import { queryOf } from './pages.ts'
import type { SignedInVisit } from './visit.ts'

const pageSize = 25

/**
 * The page of an account's sessions that the query of a visit asks for (`cursor`), newest first.
 * @throws GatehouseError `request-invalid` (field `cursor`)
 */
export async function pageOfSessions(visit: SignedInVisit, accountId: string): Promise<SessionsPart> {
  const cursor = queryOf(visit)('cursor') || undefined
  const page = await visit.acts.sessions.page(accountId, { cursor, limit: pageSize })
  return { ...page, isFirstPage: cursor === undefined }
}
