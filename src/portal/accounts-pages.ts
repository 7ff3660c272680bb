import { tryCreateSetupLink } from '#accounts/setup-links.ts'
import { recordReason } from '#gateway/gate/outcome.ts'
import { errorMessage } from '#platform/errors/operator-error.ts'
import { formRefusal } from './form-refusal.ts'
import { importPages } from './import-pages.ts'
import type { PortalOptions, SignedInContext } from './page-context.ts'
import { type CreatePages, queryOf } from './portal-page.ts'
import type { PortalRequest } from './portal-request.ts'
import type { PortalResponse } from './portal-response.ts'
import { assertKnownCase, planIn, profileOf, showNewAccount } from './show-account.ts'
import { accountsPage, newAccountPage } from './views/accounts.ts'

const pageSize = 25

/** Pages to find and create accounts, for Admins. */
export const accountsPages: CreatePages = (options) => [
  { path: '/accounts', get: listAccounts },
  {
    path: '/accounts/new',
    get: async (context) => context.show((frame) => newAccountPage(frame)),
    post: (context) => createAccount(context, options),
  },
  ...importPages(options),
]

async function listAccounts(context: SignedInContext): Promise<PortalResponse> {
  const query = queryOf(context)
  const q = query('q').trim()
  const cursor = query('cursor') || undefined
  const common = { query: q, isFirstPage: cursor === undefined }
  try {
    const page = await context.actions.search.page({ query: q, cursor, limit: pageSize })
    return context.show((frame) => accountsPage(frame, { ...common, ...page }))
  } catch (error) {
    const refusal = formRefusal(error, {})
    const message = refusal.state.message ?? Object.values(refusal.state.errors).join(' ')
    const nothing = { items: [], nextCursor: undefined, error: message }
    return context.show((frame) => accountsPage(frame, { ...common, ...nothing }), refusal)
  }
}

async function createAccount(
  context: SignedInContext,
  { roles, oidc }: PortalOptions,
): Promise<PortalResponse> {
  const { actions, form, request } = context
  const input = profileOf(form)
  try {
    const isVerified = form('isVerified') === 'true'
    assertKnownCase(input.role, roles)
    const { account, secretKey, apiKey } = await actions.accounts.create({
      ...input,
      isVerified,
      plan: planIn(input),
    })
    if (form('mailsLink') === 'true' && actions.setupLinks.canMail) {
      const link = await mailed(actions.setupLinks.mail(account.id), request)
      return showNewAccount(context, account, { kind: 'created', secretKey, apiKey, link })
    }
    const recordWhy = (reason: string) => recordReason(request.arrival.outcome, reason)
    const hasLink = oidc?.acceptsPasswords !== false
    const link = hasLink ? await tryCreateSetupLink(actions.setupLinks, account.id, recordWhy) : undefined
    return showNewAccount(context, account, { kind: 'created', secretKey, apiKey, link })
  } catch (error) {
    const checks = { isVerified: form('isVerified'), mailsLink: form('mailsLink') }
    const refusal = formRefusal(error, { ...input, ...checks })
    return context.show((frame) => newAccountPage(frame, refusal.state), refusal)
  }
}

/** The keys are shown all the same: they could not be shown again. */
async function mailed(mailing: Promise<void>, { arrival }: PortalRequest): Promise<'mailed' | undefined> {
  try {
    await mailing
    return 'mailed'
  } catch (error) {
    recordReason(arrival.outcome, `set-up link not created: ${errorMessage(error)}`)
    return undefined
  }
}
