import type { KeyKind } from '../../accounts/keys.ts'
import type { SignIn } from '../../auth/sign-in.ts'
import { GatehouseError } from '../../errors.ts'
import { deleteAccountPage } from '../../portal/account.ts'
import type { Account, AccountChanges } from '../../store/store.ts'
import { assertKnownCase, profileOf, showAccount } from './account.ts'
import { type Answer, goTo } from './answer.ts'
import { confirmPassword } from './confirm.ts'
import { formRefusal, wrongField } from './form-refusal.ts'
import { replaceKey } from './integration-pages.ts'
import type { NoticeName } from './notices.ts'
import { type Pages, type PortalPage, paramOf } from './pages.ts'
import type { PortalPath } from './plans.ts'
import type { SignedInVisit } from './visit.ts'

type ActName = PortalPath extends infer Path
  ? Path extends `/accounts/:id/${infer Name}`
    ? Name
    : never
  : never
type Work = (visit: SignedInVisit, account: Account) => Promise<Answer>

/** Acts that only end something: they need no password on one's own account either, as on the viewer's own pages. */
const endingActs: ReadonlySet<ActName> = new Set([
  'end',
  'end-all',
  'end-portal',
  'end-all-portal',
  'end-overlap',
])

/** One account and everything an Admin can do to it. */
export const accountPages: Pages = ({ roles, signIn }) => {
  return accountActs((name, work) => act(name, work, signIn), roles)
}

type MakeAct = (name: ActName, work: Work) => PortalPage

const accountActs = (act: MakeAct, roles: readonly string[]): readonly PortalPage[] => [
  {
    path: '/accounts/:id',
    get: withAccount((visit, account) => showAccount(visit, account)),
  },
  act('update', (visit, account) => update(visit, account, roles)),
  act('verify', change({ isVerified: true }, 'account-verified')),
  act('unverify', change({ isVerified: false }, 'account-unverified')),
  act('disable', change({ isDisabled: true }, 'account-disabled')),
  act('enable', change({ isDisabled: false }, 'account-enabled')),
  act('set-up-link', makeLink),
  act('reset-secret', (visit, account) => resetKey(visit, account, 'secretKey')),
  act('reset-api-key', (visit, account) => resetKey(visit, account, 'apiKey')),
  act('end-overlap', endOverlap),
  act('end', async ({ acts, form }, { id }) => {
    const hasEnded = await acts.sessions.end(id, form('session'))
    return goTo(`/accounts/${id}`, hasEnded ? 'session-ended' : 'session-gone')
  }),
  act('end-all', async ({ acts }, { id }) => {
    await acts.sessions.endAll(id)
    return goTo(`/accounts/${id}`, 'sessions-ended')
  }),
  act('end-portal', async ({ acts, form }, { id }) => {
    const hasEnded = await acts.sessions.endPortal(id, form('session'))
    return goTo(`/accounts/${id}`, hasEnded ? 'session-ended' : 'session-gone')
  }),
  act('end-all-portal', async ({ acts }, { id }) => {
    await acts.sessions.endAllPortal(id)
    return goTo(`/accounts/${id}`, 'sessions-ended')
  }),
  {
    path: '/accounts/:id/delete',
    get: withAccount(async (visit, account) => visit.show((frame) => deleteAccountPage(frame, account))),
    post: withAccount(remove),
  },
]

/**
 * What is done to one's own account needs the password, wherever it is touched: somebody else may be at the keyboard.
 * A refused form shows the account, and why.
 */
function act(name: ActName, work: Work, signIn: SignIn): PortalPage {
  const post = withAccount(async (visit, account) => {
    try {
      if (account.id === visit.viewer.account.id && !endingActs.has(name))
        await confirmPassword(visit, signIn)
      return await work(visit, account)
    } catch (error) {
      const refusal = formRefusal(error, name === 'update' ? profileOf(visit.form) : {})
      if (name === 'update') return showAccount(visit, account, { state: refusal.state }, refusal)
      const problem = refusal.state.message ?? Object.values(refusal.state.errors).join(' ')
      return showAccount(visit, account, { problem }, refusal)
    }
  })
  return { path: `/accounts/:id/${name}`, post }
}

function withAccount(work: Work): (visit: SignedInVisit) => Promise<Answer> {
  return async (visit) => {
    const id = paramOf(visit, 'id')
    // An e-mail would find the account too, but must not be in a URL.
    if (id.includes('@')) throw new GatehouseError('account-not-found')
    return work(visit, await visit.acts.accounts.find(id))
  }
}

async function update(visit: SignedInVisit, account: Account, roles: readonly string[]): Promise<Answer> {
  const values = profileOf(visit.form)
  if (values.role !== account.role) assertKnownCase(values.role, roles)
  await visit.acts.accounts.update(account.id, values)
  return goTo(`/accounts/${account.id}`, 'account-saved')
}

function change(changes: AccountChanges, notice: NoticeName): Work {
  return async ({ acts }, { id }) => {
    await acts.accounts.update(id, changes)
    return goTo(`/accounts/${id}`, notice)
  }
}

async function makeLink(visit: SignedInVisit, account: Account): Promise<Answer> {
  const link = await visit.acts.setupLinks.create(account.id)
  return showAccount(visit, account, { handout: { kind: 'link', link } })
}

async function resetKey(visit: SignedInVisit, { id }: Account, name: KeyKind): Promise<Answer> {
  const made = await replaceKey(visit, id, name)
  if (made === undefined) return goTo(`/accounts/${id}`, 'key-replaced')
  return showAccount(visit, await visit.acts.accounts.find(id), {
    handout: { kind: 'key', name, key: made.key },
  })
}

async function endOverlap({ acts }: SignedInVisit, { id }: Account): Promise<Answer> {
  const hasEnded = await acts.keys.endOverlap(id)
  return goTo(`/accounts/${id}`, hasEnded ? 'overlap-ended' : 'overlap-over')
}

async function remove(visit: SignedInVisit, account: Account): Promise<Answer> {
  const { acts, form } = visit
  const confirmation = form('confirmation').trim()
  try {
    if (confirmation.toLowerCase() !== account.email.toLowerCase()) {
      throw wrongField('confirmation', 'This is not the e-mail of the account.')
    }
    await acts.accounts.remove(account.id)
  } catch (error) {
    const refusal = formRefusal(error, { confirmation })
    return visit.show((frame) => deleteAccountPage(frame, account, refusal.state), refusal)
  }
  return goTo('/accounts', 'account-deleted')
}
