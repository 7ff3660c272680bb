import type { SecretKeyInput } from '#accounts/key-input.ts'
import { GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import type { Form } from './form-body.ts'
import { confirmPassword, formRefusal } from './form-refusal.ts'
import type { PortalOptions, SignedInContext } from './page-context.ts'
import type { PortalPage } from './portal-page.ts'
import { type PortalResponse, redirectTo } from './portal-response.ts'
import type { ShowIntegration } from './show-integration.ts'

/** The further secret keys of one's own account. */
export function createFurtherKeyPages(
  show: ShowIntegration,
  { clock, ...options }: Pick<PortalOptions, 'signIn' | 'oidc' | 'clock'>,
): readonly PortalPage[] {
  async function create(context: SignedInContext): Promise<PortalResponse> {
    const { actions, viewer, form } = context
    const names = ['name', 'scopes', 'addresses', 'lifetimeDays']
    const values = Object.fromEntries(names.map((name) => [name, form(name)]))
    try {
      await confirmPassword(context, options)
      const input = keyInputOf(form, clock())
      const key = await actions.secretKeys.create(viewer.account.id, input)
      return show(context, { createdKey: { name: input.name, key } })
    } catch (error) {
      const refusal = formRefusal(error, values)
      return show(context, { refusedKey: refusal.state }, refusal)
    }
  }

  async function rotate(context: SignedInContext): Promise<PortalResponse> {
    const { actions, viewer, form } = context
    const name = form('name')
    const values = { graceSeconds: form('graceSeconds') }
    const graceSeconds = Number(values.graceSeconds)
    try {
      await confirmPassword(context, options)
      const { secretKeys } = actions
      const key = await secretKeys.rotate(viewer.account.id, name, graceSeconds, Number(form('replaces')))
      return show(context, { createdKey: { name, key, graceSeconds } })
    } catch (error) {
      if (isUnknownKey(error)) return redirectTo('/integration', 'key-replaced')
      const refusal = formRefusal(error, values)
      return show(context, { refusedKeyForm: { form: 'rotate', name, state: refusal.state } }, refusal)
    }
  }

  async function rename(context: SignedInContext): Promise<PortalResponse> {
    const { actions, viewer, form } = context
    const name = form('name')
    const to = form('to').trim()
    try {
      await actions.secretKeys.rename(viewer.account.id, name, to)
      return redirectTo('/integration', 'secret-key-renamed')
    } catch (error) {
      if (isUnknownKey(error)) return redirectTo('/integration', 'secret-key-gone')
      const refusal = formRefusal(error, { to })
      return show(context, { refusedKeyForm: { form: 'rename', name, state: refusal.state } }, refusal)
    }
  }

  return [
    { path: '/integration/keys/create', post: create },
    { path: '/integration/keys/rotate', post: rotate },
    { path: '/integration/keys/rename', post: rename },
    {
      path: '/integration/keys/revoke',
      post: (context) => revokeKey(context, context.viewer.account.id, '/integration'),
    },
  ]
}

/** Revokes the key that the form names. As it only revokes, it needs no password. @param page the page of the form */
export async function revokeKey(
  { actions, form }: SignedInContext,
  id: string,
  page: string,
): Promise<PortalResponse> {
  const graceSeconds = Number(form('graceSeconds'))
  try {
    await actions.secretKeys.revoke(id, form('name'), graceSeconds, Number(form('createdAt')))
    return redirectTo(page, graceSeconds === 0 ? 'secret-key-revoked' : 'secret-key-ends')
  } catch (error) {
    if (!isUnknownKey(error)) throw error
    return redirectTo(page, 'secret-key-gone')
  }
}

/** Whether the key was revoked before, such as in another tab. */
function isUnknownKey(error: unknown): boolean {
  return error instanceof GatehouseError && error.errors?.some(({ field }) => field === 'name') === true
}

/** @throws GatehouseError `request-invalid` (field `lifetimeDays`) if it is not a number of days */
function keyInputOf(form: Form, now: number): SecretKeyInput {
  const days = form('lifetimeDays')
  if (!/^\d{0,4}$/.test(days)) throw invalidField('lifetimeDays', 'Choose when the key expires.')
  return {
    name: form('name').trim(),
    scopes: listOf(form('scopes')),
    addresses: listOf(form('addresses')),
    expiresAt: days === '' ? undefined : now + Number(days) * 86_400_000,
  }
}

/** What was typed, separated by commas or spaces. */
function listOf(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((part) => part !== '')
}
