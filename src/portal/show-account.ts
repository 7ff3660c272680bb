import { noPlan, similarRole } from '#accounts/account-input.ts'
import { GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import type { Account } from '#store/account.ts'
import type { StoredKey } from '#store/secret-keys.ts'
import type { Form } from './form-body.ts'
import type { FormRefusal } from './form-refusal.ts'
import { furtherKeysOf } from './further-key-pages.ts'
import type { SignedInContext } from './page-context.ts'
import type { PortalResponse } from './portal-response.ts'
import { readSessionsPage } from './sessions-pages.ts'
import { type AccountView, accountPage, type OneTimeSecrets } from './views/account.ts'

/** The account that the path names. @throws GatehouseError `account-not-found`, for an e-mail too, which must not be in a URL */
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
): Promise<PortalResponse> {
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

/**
 * The page of an account that was just created, with its keys. Nothing is read from the store: the keys must not be
 * lost if it has become unavailable.
 */
export function showNewAccount(
  context: SignedInContext,
  account: Account,
  oneTimeSecrets: OneTimeSecrets,
): PortalResponse {
  const unused = ({ createdAt, sealed, lastFour }: StoredKey) => {
    return { createdAt, lastUse: undefined, isRevealable: sealed !== undefined, lastFour }
  }
  const [secretKey] = account.secretKeys
  const { apiKey } = account
  const keys = {
    secretKey: unused(secretKey ?? apiKey),
    previousSecretKey: undefined,
    apiKey: unused(apiKey),
  }
  const sessions = { items: [], nextCursor: undefined, isFirstPage: true }
  const view = { account, keys, furtherKeys: [], sessions, portalSessions: [], oneTimeSecrets }
  return context.show((frame) => accountPage(frame, view))
}

/**
 * Rejects a role that differs only in case from one that routes name: it would silently match none of them.
 * @throws GatehouseError `request-invalid`
 */
export function assertKnownCase(role: string, known: readonly string[]): void {
  const similar = similarRole(role, known)
  if (similar === undefined) return
  throw invalidField('role', `Did you mean ${similar}? Roles are case-sensitive.`)
}

/** The plan that a form gives to an account: undefined = none. A form without the field changes nothing. */
export function planIn({ plan }: { readonly plan: string }, before?: string): string | undefined {
  if (plan === '') return before
  return plan === noPlan ? undefined : plan
}

/** The fields of an account form, as submitted. */
export function profileOf(form: Form) {
  const text = (name: string) => form(name).trim()
  return {
    email: text('email'),
    firstName: text('firstName'),
    lastName: text('lastName'),
    role: text('role'),
    plan: text('plan'),
  }
}
