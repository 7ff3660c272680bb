import { hasPrivateKey } from '#accounts/keys/certificate-input.ts'
import { parseQuota, quotaRule, type SecretKeyInput } from '#accounts/keys/input.ts'
import type { SecretKeyStatus } from '#accounts/keys/secret-keys.ts'
import { GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import { dayMs, type EpochMs } from '#platform/time.ts'
import { defaultKeyName } from '#store/secret-keys.ts'
import type { Form } from '../forms/body.ts'
import { type FormRefusal, formRefusal } from '../forms/refusal.ts'
import type { PortalOptions, SignedInContext } from '../page-context.ts'
import type { PortalPage } from '../portal-page.ts'
import { type PageResult, redirectTo } from '../portal-response.ts'
import type { IntegrationView } from '../views/integration/integration-page.ts'

/** Shows the page *Integration* of the viewer, with the result of a form on it. */
export type ShowIntegration = (
  context: SignedInContext,
  more?: Partial<IntegrationView>,
  refusal?: FormRefusal,
) => Promise<PageResult>

/** The secret keys other than the default one, which has a card of its own. */
export function furtherKeysOf(secretKeys: readonly SecretKeyStatus[]): readonly SecretKeyStatus[] {
  return secretKeys.filter(({ name }) => name !== defaultKeyName)
}

/** The fields of a new key, besides the password. */
const keyFields = ['name', 'scopes', 'addresses', 'quota', 'lifetimeDays']

function valuesOf(form: Form, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, form(name)]))
}

/** The further secret keys of one's own account. */
export function createFurtherKeyPages(
  show: ShowIntegration,
  { clock, carriers }: PortalOptions,
): readonly PortalPage[] {
  function refuse(context: SignedInContext, form: 'rotate' | 'rename', refusal: FormRefusal) {
    const refusedKeyForm = { form, name: context.form('name'), state: refusal.state }
    return show(context, { refusedKeyForm }, refusal)
  }

  return [
    {
      path: '/integration/keys/create',
      asksPassword: true,
      post: async (context) => {
        const input = keyInputOf(context, clock())
        const key = await context.actions.secretKeys.create(context.viewer.account.id, input)
        return show(context, { createdKey: { name: input.name, key } })
      },
      refused: (context, error) => {
        const refusal = formRefusal(context, error, valuesOf(context.form, keyFields))
        return show(context, { refusedKey: refusal.state }, refusal)
      },
    },
    {
      path: '/integration/keys/certificate',
      asksPassword: true,
      post: async (context) => {
        const { actions, viewer, form, texts } = context
        if (!carriers.certificate) throw invalidField('certificate', texts.furtherKeys.noCertificates)
        const input = keyInputOf(context, clock())
        await actions.secretKeys.bindCertificate(viewer.account.id, input, form('certificate'))
        return redirectTo('/integration', 'certificate-added')
      },
      refused: (context, error) => {
        const certificate = context.form('certificate')
        const values = valuesOf(context.form, keyFields)
        const refusal = formRefusal(
          context,
          error,
          hasPrivateKey(certificate) ? values : { ...values, certificate },
        )
        return show(context, { refusedCertificate: refusal.state }, refusal)
      },
    },
    {
      path: '/integration/keys/rotate',
      asksPassword: true,
      post: async (context) => {
        const { actions, viewer, form } = context
        const name = form('name')
        const graceSeconds = Number(form('graceSeconds'))
        const replaces = Number(form('replaces'))
        const replaced = await actions.secretKeys.rotate(viewer.account.id, name, graceSeconds, replaces)
        return show(context, { createdKey: { name, ...replaced } })
      },
      refused: (context, error) => {
        if (isUnknownKey(error)) return redirectTo('/integration', 'key-replaced')
        return refuse(
          context,
          'rotate',
          formRefusal(context, error, { graceSeconds: context.form('graceSeconds') }),
        )
      },
    },
    {
      path: '/integration/keys/rename',
      post: async ({ actions, viewer, form }) => {
        await actions.secretKeys.rename(viewer.account.id, form('name'), form('to').trim())
        return redirectTo('/integration', 'secret-key-renamed')
      },
      refused: (context, error) => {
        if (isUnknownKey(error)) return redirectTo('/integration', 'secret-key-gone')
        return refuse(context, 'rename', formRefusal(context, error, { to: context.form('to').trim() }))
      },
    },
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
): Promise<PageResult> {
  const graceSeconds = Number(form('graceSeconds'))
  try {
    await actions.secretKeys.revoke(id, form('name'), graceSeconds, Number(form('createdAt')))
    return redirectTo(page, graceSeconds === 0 ? 'secret-key-revoked' : 'secret-key-ends')
  } catch (error) {
    if (!isUnknownKey(error)) throw error
    return redirectTo(page, 'secret-key-gone')
  }
}

/** Whether the key has already been revoked, for example in another tab. */
function isUnknownKey(error: unknown): boolean {
  return error instanceof GatehouseError && error.errors?.some(({ field }) => field === 'name') === true
}

/** @throws GatehouseError `request-invalid` (fields `lifetimeDays` and `quota`) if they cannot be read */
function keyInputOf({ form, texts }: SignedInContext, now: EpochMs): SecretKeyInput {
  const days = form('lifetimeDays')
  if (!/^\d{0,4}$/.test(days)) throw invalidField('lifetimeDays', texts.furtherKeys.chooseLifetime)
  const typed = form('quota').trim()
  const quota = parseQuota(typed)
  if (typed !== '' && quota === undefined) throw invalidField('quota', quotaRule)
  return {
    name: form('name').trim(),
    scopes: listOf(form('scopes')),
    addresses: listOf(form('addresses')),
    quota,
    expiresAt: days === '' ? undefined : now + Number(days) * dayMs,
  }
}

/** The typed items, separated by commas or spaces. */
function listOf(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((part) => part !== '')
}
