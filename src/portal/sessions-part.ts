import type { SignedInContext } from './page-context.ts'
import { queryOf } from './portal-page.ts'
import type { SessionsList } from './views/sessions.ts'

const pageSize = 25

/**
 * The page of an account's sessions that the request's query asks for (`cursor`), newest first.
 * @throws GatehouseError `request-invalid` (field `cursor`)
 */
export async function readSessionsPage(context: SignedInContext, accountId: string): Promise<SessionsList> {
  const cursor = queryOf(context)('cursor') || undefined
  const page = await context.actions.sessions.page(accountId, { cursor, limit: pageSize })
  return { ...page, isFirstPage: cursor === undefined }
}
