import { accountsPage, newAccountPage } from '../../portal/accounts.ts'
import { firstLink } from '../first-link.ts'
import { assertKnownCase, profileOf, showNewAccount } from './account.ts'
import type { Answer } from './answer.ts'
import { formRefusal } from './form-refusal.ts'
import { importPages } from './import-pages.ts'
import { type Pages, queryOf } from './pages.ts'
import type { SignedInVisit } from './visit.ts'

const pageSize = 25

/** Pages to find and make accounts, for Admins. */
export const accountsPages: Pages = (options) => [
  { path: '/accounts', get: listAccounts },
  {
    path: '/accounts/new',
    get: async (visit) => visit.show((frame) => newAccountPage(frame)),
    post: (visit) => createAccount(visit, options.roles),
  },
  ...importPages(options),
]

async function listAccounts(visit: SignedInVisit): Promise<Answer> {
  const query = queryOf(visit)
  const q = query('q').trim()
  const cursor = query('cursor') || undefined
  const common = { query: q, isFirstPage: cursor === undefined }
  try {
    const page = await visit.acts.search.page({ query: q, cursor, limit: pageSize })
    return visit.show((frame) => accountsPage(frame, { ...common, ...page }))
  } catch (error) {
    const refusal = formRefusal(error, {})
    const message = refusal.state.message ?? Object.values(refusal.state.errors).join(' ')
    const nothing = { items: [], nextCursor: undefined, error: message }
    return visit.show((frame) => accountsPage(frame, { ...common, ...nothing }), refusal)
  }
}

async function createAccount(visit: SignedInVisit, roles: readonly string[]): Promise<Answer> {
  const { acts, form, request } = visit
  const input = profileOf(form)
  try {
    const isVerified = form('isVerified') === 'true'
    assertKnownCase(input.role, roles)
    const { account, secretKey, apiKey } = await acts.accounts.create({ ...input, isVerified })
    const link = await firstLink(request, acts.setupLinks, account.id)
    return showNewAccount(visit, account, { kind: 'created', secretKey, apiKey, link })
  } catch (error) {
    const refusal = formRefusal(error, { ...input, isVerified: form('isVerified') })
    return visit.show((frame) => newAccountPage(frame, refusal.state), refusal)
  }
}
