import { noPlan, similarRole } from '#accounts/account-input.ts'
import { noKey } from '#accounts/keys/default-keys.ts'
import { type SetupLink, tryCreateSetupLink } from '#accounts/setup-links.ts'
import { recordReason } from '#gateway/arrival/outcome.ts'
import { invalidField } from '#platform/errors/gatehouse-error.ts'
import type { Account } from '#store/accounts.ts'
import { defaultKeyOf, type StoredKey } from '#store/secret-keys.ts'
import type { Form } from '../forms/body.ts'
import { formRefusal } from '../forms/refusal.ts'
import type { PortalOptions, SignedInContext } from '../page-context.ts'
import type { CreatePages } from '../portal-page.ts'
import type { PageResult } from '../portal-response.ts'
import type { Texts } from '../texts/texts.ts'
import { newAccountPage } from '../views/accounts/account-forms.ts'
import { accountPage, type OneTimeSecrets } from '../views/accounts/account-page.ts'

/** The page to create one account, for Admins. */
export const newAccountPages: CreatePages = (options) => [
  {
    path: '/accounts/new',
    get: async (context) => context.show((frame) => newAccountPage(frame)),
    post: (context) => createAccount(context, options),
    refused: refuseAccount,
  },
]

async function createAccount(context: SignedInContext, { roles, oidc }: PortalOptions): Promise<PageResult> {
  const { actions, form, texts } = context
  const input = profileOf(form)
  assertKnownCase(input.role, roles, texts.accounts)
  const { account, secretKey, apiKey } = await actions.accounts.create({
    ...input,
    isVerified: form('isVerified') === 'true',
    plan: planIn(input),
  })
  const link = await linkFor(account, context, oidc?.acceptsPasswords !== false)
  return showNewAccount(context, account, { kind: 'created', secretKey, apiKey, link })
}

function refuseAccount(context: SignedInContext, error: unknown): PageResult {
  const { form } = context
  const checks = { isVerified: form('isVerified'), mailsLink: form('mailsLink') }
  const refusal = formRefusal(context, error, { ...profileOf(form), ...checks })
  return context.show((frame) => newAccountPage(frame, refusal.state), refusal)
}

/** The set-up link of a new account. Failures are only logged: the page must show the keys, which it can do once. */
async function linkFor(
  { id }: Account,
  { actions: { setupLinks }, form, request }: SignedInContext,
  acceptsPasswords: boolean,
): Promise<SetupLink | 'mailed' | undefined> {
  const isMailed = form('mailsLink') === 'true' && setupLinks.canMail
  if (!isMailed && !acceptsPasswords) return undefined
  const recordWhy = (reason: string) => recordReason(request.arrival.outcome, reason)
  return tryCreateSetupLink(setupLinks, id, recordWhy, { isMailed })
}

/**
 * The page of an account that was just created, with its keys. Nothing is read from the store: the keys must not be
 * lost if it has become unavailable.
 */
function showNewAccount(
  context: SignedInContext,
  account: Account,
  oneTimeSecrets: OneTimeSecrets,
): PageResult {
  const unused = ({ createdAt, sealed, lastFour }: StoredKey) => {
    return { exists: true, createdAt, lastUse: undefined, isRevealable: sealed !== undefined, lastFour }
  }
  const secretKey = defaultKeyOf(account)
  const keys = {
    secretKey: secretKey ? unused(secretKey) : noKey,
    previousSecretKey: undefined,
    apiKey: unused(account.apiKey),
  }
  const sessions = { items: [], nextCursor: undefined, isFirstPage: true }
  const view = { account, keys, furtherKeys: [], sessions, portalSessions: [], oneTimeSecrets }
  return context.show((frame) => accountPage(frame, view))
}

/**
 * Rejects a role that differs only in case from one that routes name: it would silently match none of them.
 * @throws GatehouseError `request-invalid`
 */
export function assertKnownCase(
  role: string,
  known: readonly string[],
  texts: Pick<Texts['accounts'], 'wrongCase'>,
): void {
  const similar = similarRole(role, known)
  if (similar === undefined) return
  throw invalidField('role', texts.wrongCase(similar))
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
