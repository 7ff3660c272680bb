import { type AccountView, accountPage } from '../../portal/account.ts'
import type { Account } from '../../store/store.ts'
import type { Answer } from './answer.ts'
import type { Form } from './form-body.ts'
import type { Refusal } from './refusal.ts'
import type { SignedInVisit } from './visit.ts'

/** The page of an account. */
export async function showAccount(
  visit: SignedInVisit,
  account: Account,
  more: Partial<AccountView> = {},
  refusal: Pick<Refusal, 'status' | 'headers'> = { status: 200, headers: {} },
): Promise<Answer> {
  const { acts } = visit
  const [keys, sessions, portalSessions] = await Promise.all([
    acts.keys.status(account.id),
    acts.sessions.list(account.id),
    acts.sessions.listPortal(account.id),
  ])
  const view = { account, keys, sessions, portalSessions, ...more }
  return visit.show((frame) => accountPage(frame, view), refusal)
}

/** What an account is called and may do, as it was typed. */
export function profileOf(form: Form) {
  const text = (name: string) => form(name).trim()
  return {
    email: text('email'),
    firstName: text('firstName'),
    lastName: text('lastName'),
    role: text('role'),
  }
}
