import { invalidField } from '#platform/errors/gatehouse-error.ts'
import { keysOf } from '#platform/json.ts'
import type { KeyKind } from '#platform/secrets/keys.ts'
import type { Account, AccountChanges } from '#store/accounts.ts'
import type { NoticeName } from '../forms/flash-notices.ts'
import { type FormRefusal, formRefusal } from '../forms/refusal.ts'
import { furtherKeysOf, revokeKey } from '../integration/further-key-pages.ts'
import { replaceKey } from '../integration/integration-pages.ts'
import { readSessionsPage, sessionNotices } from '../own-account-pages.ts'
import type { PathsOf } from '../page-access.ts'
import type { PortalOptions, SignedInContext } from '../page-context.ts'
import { accountOf, type CreatePages, confirmPassword, type PortalPage } from '../portal-page.ts'
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
type AccountHandler = (
  context: SignedInContext,
  account: Account,
  options: PortalOptions,
) => Promise<PageResult>

/** What an Admin can do to an account, by the name of the form. */
const handlers: Readonly<Record<ActionName, AccountHandler>> = {
  update: updateAccount,
  verify: updateBy({ isVerified: true }, 'account-verified'),
  unverify: updateBy({ isVerified: false }, 'account-unverified'),
  disable: updateBy({ isDisabled: true }, 'account-disabled'),
  enable: updateBy({ isDisabled: false }, 'account-enabled'),
  'set-up-link': createSetupLink,
  'mail-set-up-link': act(({ actions }, id) => actions.setupLinks.mail(id), 'set-up-link-mailed'),
  unlink: act(({ actions }, id) => actions.unlinkIdentities(id), 'account-unlinked'),
  'reset-second-factor': act(
    ({ actions }, id) => actions.resetSecondFactor(id),
    'second-factor-reset',
    'second-factor-none',
  ),
  'reset-secret-key': (context, account) => resetKey(context, account, 'secretKey'),
  'reset-api-key': (context, account) => resetKey(context, account, 'apiKey'),
  'end-overlap': act(
    ({ actions }, id) => actions.defaultKeys.endOverlap(id),
    'overlap-ended',
    'overlap-over',
  ),
  'keys/revoke': (context, { id }) => revokeKey(context, id, `/accounts/${id}`),
  end: act(({ actions, form }, id) => actions.sessions.end(id, form('session')), ...sessionNotices),
  'end-all': act(({ actions }, id) => actions.sessions.endAllTokens(id), 'sessions-ended'),
  'end-portal': act(
    ({ actions, form }, id) => actions.sessions.endPortal(id, form('session')),
    ...sessionNotices,
  ),
  'end-all-portal': act(({ actions }, id) => actions.sessions.endAllPortal(id), 'sessions-ended'),
}

/** Actions that only revoke: they need no password even on one's own account, as on the viewer's own pages. */
const revokingActions: ReadonlySet<ActionName> = new Set([
  'end',
  'end-all',
  'end-portal',
  'end-all-portal',
  'end-overlap',
  'keys/revoke',
])

/** One account and everything an Admin can do to it. */
export const accountPages: CreatePages = (options) => [
  {
    path: '/accounts/:id',
    get: withAccount((context, account) => showAccount(context, account)),
  },
  ...keysOf(handlers).map((name) => createActionPage(name, options)),
  {
    path: '/accounts/:id/delete',
    get: withAccount(async (context, account) => context.show((frame) => deleteAccountPage(frame, account))),
    post: withAccount(deleteAccount),
  },
]

/**
 * Actions on one's own account require the password here too, as someone else may be at the keyboard. A refused form
 * shows the account page with the error.
 */
function createActionPage(name: ActionName, options: PortalOptions): PortalPage {
  const post = withAccount(async (context, account) => {
    try {
      if (account.id === context.viewer.account.id && !revokingActions.has(name))
        await confirmPassword(context, options)
      return await handlers[name](context, account, options)
    } catch (error) {
      const refusal = formRefusal(context, error, name === 'update' ? profileOf(context.form) : {})
      if (name === 'update') return showAccount(context, account, { state: refusal.state }, refusal)
      const problem = refusal.state.message ?? Object.values(refusal.state.errors).join(' ')
      return showAccount(context, account, { problem }, refusal)
    }
  })
  return { path: `/accounts/:id/${name}`, post }
}

function withAccount(
  handler: (context: SignedInContext, account: Account) => Promise<PageResult>,
): (context: SignedInContext) => Promise<PageResult> {
  return async (context) => handler(context, await accountOf(context))
}

async function updateAccount(
  context: SignedInContext,
  account: Account,
  { roles }: PortalOptions,
): Promise<PageResult> {
  const values = profileOf(context.form)
  if (values.role !== account.role) assertKnownCase(values.role, roles, context.texts.accounts)
  const plan = planIn(values, account.plan)
  const { plan: _, ...others } = values
  // An account keeps a plan that is no longer in the config until it is given another.
  await context.actions.accounts.update(account.id, plan === account.plan ? others : { ...others, plan })
  return redirectTo(`/accounts/${account.id}`, 'account-saved')
}

function updateBy(changes: AccountChanges, notice: NoticeName): AccountHandler {
  return act(({ actions }, id) => actions.accounts.update(id, changes), notice)
}

/**
 * Does something to the account, and says so on its page.
 * @param action resolves to false if there was nothing to do
 * @param nothing the notice if there was nothing to do
 */
function act(
  action: (context: SignedInContext, id: string) => Promise<unknown>,
  done: NoticeName,
  nothing: NoticeName = done,
): AccountHandler {
  return async (context, { id }) => {
    const hasDone = await action(context, id)
    return redirectTo(`/accounts/${id}`, hasDone === false ? nothing : done)
  }
}

async function createSetupLink(context: SignedInContext, account: Account): Promise<PageResult> {
  const link = await context.actions.setupLinks.create(account.id)
  return showAccount(context, account, { oneTimeSecrets: { kind: 'link', link } })
}

async function resetKey(context: SignedInContext, { id }: Account, name: KeyKind): Promise<PageResult> {
  const replacement = await replaceKey(context, id, name)
  if (replacement === undefined) return redirectTo(`/accounts/${id}`, 'key-replaced')
  return showAccount(context, await context.actions.accounts.get(id), {
    oneTimeSecrets: { kind: 'key', name, key: replacement.key },
  })
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

async function showAccount(
  context: SignedInContext,
  account: Account,
  more: Partial<AccountView> = {},
  refusal: Pick<FormRefusal, 'status' | 'headers'> = { status: 200, headers: {} },
): Promise<PageResult> {
  const { actions } = context
  const [keys, secretKeys, sessions, portalSessions] = await Promise.all([
    actions.defaultKeys.status(account.id),
    actions.secretKeys.list(account.id),
    readSessionsPage(context, account.id),
    actions.sessions.listPortal(account.id),
  ])
  const furtherKeys = furtherKeysOf(secretKeys)
  const view = { account, keys, furtherKeys, sessions, portalSessions, ...more }
  return context.show((frame) => accountPage(frame, view), refusal)
}
