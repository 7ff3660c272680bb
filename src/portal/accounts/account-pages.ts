import { GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import type { KeyKind } from '#platform/secrets/keys.ts'
import type { Account, AccountChanges } from '#store/accounts.ts'
import type { NoticeName } from '../forms/flash-notices.ts'
import { type FormRefusal, formRefusal } from '../forms/refusal.ts'
import { furtherKeysOf, revokeKey } from '../integration/further-key-pages.ts'
import { replaceKey } from '../integration/integration-pages.ts'
import { readSessionsPage, sessionEnded } from '../own-account-pages.ts'
import type { PathsOf } from '../page-access.ts'
import type { PortalOptions, SignedInContext } from '../page-context.ts'
import { type CreatePages, confirmPassword, type PortalPage } from '../portal-page.ts'
import { type PageResult, redirectTo } from '../portal-response.ts'
import { deleteAccountPage } from '../views/accounts/account-forms.ts'
import { type AccountView, accountPage } from '../views/accounts/account-page.ts'
import { assertKnownCase, planIn, profileOf } from './new-account-pages.ts'

type ActionName =
  PathsOf<'admin', 'POST'> extends infer Path
    ? Path extends `/accounts/:id/${infer Name}`
      ? Name
      : never
    : never
type AccountHandler = (context: SignedInContext, account: Account) => Promise<PageResult>

/** Actions that only revoke need no password, even on one's own account, as on the viewer's own pages. */
const actionsWithoutPassword: ReadonlySet<ActionName> = new Set([
  'end',
  'end-all',
  'end-portal',
  'end-all-portal',
  'end-overlap',
  'keys/revoke',
])

/** One account and everything an Admin can do to it. */
export const accountPages: CreatePages = (options) => {
  const createPage = (name: ActionName, handler: AccountHandler) => createActionPage(name, handler, options)
  return [
    {
      path: '/accounts/:id',
      get: withAccount((context, account) => showAccount(context, account)),
    },
    createPage('update', (context, account) => updateAccount(context, account, options.roles)),
    createPage('verify', updateAction({ isVerified: true }, 'account-verified')),
    createPage('unverify', updateAction({ isVerified: false }, 'account-unverified')),
    createPage('disable', updateAction({ isDisabled: true }, 'account-disabled')),
    createPage('enable', updateAction({ isDisabled: false }, 'account-enabled')),
    createPage('set-up-link', createSetupLink),
    createPage('mail-set-up-link', async ({ actions }, { id }) => {
      await actions.setupLinks.mail(id)
      return redirectTo(`/accounts/${id}`, 'set-up-link-mailed')
    }),
    createPage('unlink', async ({ actions }, { id }) => {
      await actions.unlinkIdentity(id)
      return redirectTo(`/accounts/${id}`, 'account-unlinked')
    }),
    createPage('reset-second-factor', async ({ actions }, { id }) => {
      const hadOne = await actions.resetSecondFactor(id)
      return redirectTo(`/accounts/${id}`, hadOne ? 'second-factor-reset' : 'second-factor-none')
    }),
    createPage('reset-secret', (context, account) => resetKey(context, account, 'secretKey')),
    createPage('reset-api-key', (context, account) => resetKey(context, account, 'apiKey')),
    createPage('end-overlap', endOverlap),
    createPage('keys/revoke', (context, { id }) => revokeKey(context, id, `/accounts/${id}`)),
    createPage('end', async ({ actions, form }, { id }) =>
      sessionEnded(`/accounts/${id}`, await actions.sessions.end(id, form('session'))),
    ),
    createPage('end-all', async ({ actions }, { id }) => {
      await actions.sessions.endAllTokens(id)
      return redirectTo(`/accounts/${id}`, 'sessions-ended')
    }),
    createPage('end-portal', async ({ actions, form }, { id }) =>
      sessionEnded(`/accounts/${id}`, await actions.sessions.endPortal(id, form('session'))),
    ),
    createPage('end-all-portal', async ({ actions }, { id }) => {
      await actions.sessions.endAllPortal(id)
      return redirectTo(`/accounts/${id}`, 'sessions-ended')
    }),
    {
      path: '/accounts/:id/delete',
      get: withAccount(async (context, account) =>
        context.show((frame) => deleteAccountPage(frame, account)),
      ),
      post: withAccount(deleteAccount),
    },
  ]
}

/**
 * Actions on one's own account require the password here too, as someone else may be at the keyboard. A refused form
 * shows the account page with the error.
 */
function createActionPage(name: ActionName, handler: AccountHandler, options: PortalOptions): PortalPage {
  const post = withAccount(async (context, account) => {
    try {
      if (account.id === context.viewer.account.id && !actionsWithoutPassword.has(name))
        await confirmPassword(context, options)
      return await handler(context, account)
    } catch (error) {
      const refusal = formRefusal(context, error, name === 'update' ? profileOf(context.form) : {})
      if (name === 'update') return showAccount(context, account, { state: refusal.state }, refusal)
      const problem = refusal.state.message ?? Object.values(refusal.state.errors).join(' ')
      return showAccount(context, account, { problem }, refusal)
    }
  })
  return { path: `/accounts/:id/${name}`, post }
}

function withAccount(handler: AccountHandler): (context: SignedInContext) => Promise<PageResult> {
  return async (context) => handler(context, await accountOf(context))
}

async function updateAccount(
  context: SignedInContext,
  account: Account,
  roles: readonly string[],
): Promise<PageResult> {
  const values = profileOf(context.form)
  if (values.role !== account.role) assertKnownCase(values.role, roles, context.texts.accounts)
  const plan = planIn(values, account.plan)
  const { plan: _, ...others } = values
  // An account keeps a plan that is no longer in the config until it is given another.
  await context.actions.accounts.update(account.id, plan === account.plan ? others : { ...others, plan })
  return redirectTo(`/accounts/${account.id}`, 'account-saved')
}

function updateAction(changes: AccountChanges, notice: NoticeName): AccountHandler {
  return async ({ actions }, { id }) => {
    await actions.accounts.update(id, changes)
    return redirectTo(`/accounts/${id}`, notice)
  }
}

async function createSetupLink(context: SignedInContext, account: Account): Promise<PageResult> {
  const link = await context.actions.setupLinks.create(account.id)
  return showAccount(context, account, { oneTimeSecrets: { kind: 'link', link } })
}

async function resetKey(context: SignedInContext, { id }: Account, name: KeyKind): Promise<PageResult> {
  const replacement = await replaceKey(context, id, name)
  if (replacement === undefined) return redirectTo(`/accounts/${id}`, 'key-replaced')
  return showAccount(context, await context.actions.accounts.find(id), {
    oneTimeSecrets: { kind: 'key', name, key: replacement.key },
  })
}

async function endOverlap({ actions }: SignedInContext, { id }: Account): Promise<PageResult> {
  const hasEnded = await actions.keys.endOverlap(id)
  return redirectTo(`/accounts/${id}`, hasEnded ? 'overlap-ended' : 'overlap-over')
}

async function deleteAccount(context: SignedInContext, account: Account): Promise<PageResult> {
  const { actions, form } = context
  const confirmation = form('confirmation').trim()
  try {
    if (confirmation.toLowerCase() !== account.email.toLowerCase()) {
      throw invalidField('confirmation', context.texts.accounts.delete.differs)
    }
    await actions.accounts.remove(account.id)
  } catch (error) {
    const refusal = formRefusal(context, error, { confirmation })
    return context.show((frame) => deleteAccountPage(frame, account, refusal.state), refusal)
  }
  return redirectTo('/accounts', 'account-deleted')
}

/**
 * The account that the path names.
 * @throws GatehouseError `account-not-found`, for an e-mail too, which must not be in a URL
 */
export async function accountOf({ actions, request }: SignedInContext): Promise<Account> {
  const id = request.param('id')
  if (id.includes('@')) throw new GatehouseError('account-not-found')
  return actions.accounts.find(id)
}

/** The page of an account. */
export async function showAccount(
  context: SignedInContext,
  account: Account,
  more: Partial<AccountView> = {},
  refusal: Pick<FormRefusal, 'status' | 'headers'> = { status: 200, headers: {} },
): Promise<PageResult> {
  const { actions } = context
  const [keys, secretKeys, sessions, portalSessions] = await Promise.all([
    actions.keys.status(account.id),
    actions.secretKeys.list(account.id),
    readSessionsPage(context, account.id),
    actions.sessions.listPortal(account.id),
  ])
  const furtherKeys = furtherKeysOf(secretKeys)
  const view = { account, keys, furtherKeys, sessions, portalSessions, ...more }
  return context.show((frame) => accountPage(frame, view), refusal)
}
