import { similarRole } from '../../accounts/roles.ts'
import { type AccountView, accountPage, type Handout } from '../../portal/account.ts'
import type { Account, StoredKey } from '../../store/store.ts'
import type { Answer } from './answer.ts'
import type { Form } from './form-body.ts'
import { type FormRefusal, wrongField } from './form-refusal.ts'
import { pageOfSessions } from './sessions-part.ts'
import type { SignedInVisit } from './visit.ts'

/** The page of an account. */
export async function showAccount(
  visit: SignedInVisit,
  account: Account,
  more: Partial<AccountView> = {},
  refusal: Pick<FormRefusal, 'status' | 'headers'> = { status: 200, headers: {} },
): Promise<Answer> {
  const { acts } = visit
  const [keys, sessions, portalSessions] = await Promise.all([
    acts.keys.status(account.id),
    pageOfSessions(visit, account.id),
    acts.sessions.listPortal(account.id),
  ])
  const view = { account, keys, sessions, portalSessions, ...more }
  return visit.show((frame) => accountPage(frame, view), refusal)
}

/**
 * The page of an account that was just made, with its keys. Nothing is read from the store: the keys must not be lost
 * if it can no longer be reached.
 */
export function showNewAccount(visit: SignedInVisit, account: Account, handout: Handout): Answer {
  const unused = ({ createdAt, sealed }: StoredKey) => {
    return { createdAt, lastUse: undefined, isRevealable: sealed !== undefined }
  }
  const { secretKey, apiKey } = account
  const keys = { secretKey: unused(secretKey), previousSecretKey: undefined, apiKey: unused(apiKey) }
  const sessions = { items: [], nextCursor: undefined, isFirstPage: true }
  const view = { account, keys, sessions, portalSessions: [], handout }
  return visit.show((frame) => accountPage(frame, view))
}

/**
 * A role in another case than the one that routes name would open nothing, without a word.
 * @throws GatehouseError `request-invalid`
 */
export function assertKnownCase(role: string, known: readonly string[]): void {
  const similar = similarRole(role, known)
  if (similar === undefined) return
  throw wrongField('role', `Did you mean ${similar}? Roles are compared with their case.`)
}

/** The fields of an account's form, as they were typed. */
export function profileOf(form: Form) {
  const text = (name: string) => form(name).trim()
  return {
    email: text('email'),
    firstName: text('firstName'),
    lastName: text('lastName'),
    role: text('role'),
  }
}
