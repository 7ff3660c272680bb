import { invalidField } from '#platform/errors/gatehouse-error.ts'
import type { KeyKind } from '#platform/secrets/keys.ts'
import { confirmPassword, formRefusal } from './form-refusal.ts'
import { createFurtherKeyPages } from './further-key-pages.ts'
import type { SignedInContext } from './page-context.ts'
import type { CreatePages, PortalPage } from './portal-page.ts'
import { acceptsHtml } from './portal-request.ts'
import { type PortalResponse, redirectTo } from './portal-response.ts'
import { createShowIntegration } from './show-integration.ts'
import { callableRoutes, createTryIt } from './try-it.ts'
import type { FormState } from './views/frame.ts'
import type { KeyForm } from './views/integration.ts'
import { isInUse, usageText } from './views/key-card.ts'

/** The two keys of one's own account, and how to use them. */
export const integrationPages: CreatePages = (options) => {
  const { routes, clock } = options
  const show = createShowIntegration(options)
  const tryRoute = createTryIt(options)

  async function reveal(context: SignedInContext, kind: KeyKind): Promise<PortalResponse> {
    const { actions, viewer } = context
    try {
      await confirmPassword(context, options)
      const key = await actions.keys.reveal(viewer.account.id, kind)
      if (key === undefined)
        throw invalidField('password', 'This key cannot be revealed. Reset it to get a new one.')
      return acceptsHtml(context.request)
        ? show(context, { shown: { kind, key } })
        : { kind: 'data', data: { key } }
    } catch (error) {
      if (!acceptsHtml(context.request)) throw error
      return refuse(context, { kind, form: 'reveal', values: {} }, error)
    }
  }

  async function reset(context: SignedInContext, kind: KeyKind): Promise<PortalResponse> {
    const { viewer, form } = context
    const { id } = viewer.account
    const values = { graceSeconds: form('graceSeconds') }
    try {
      await confirmPassword(context, options)
      // A form that is submitted again must not reset the key that it created.
      const replacement = await replaceKey(context, id, kind)
      if (replacement === undefined) return redirectTo('/integration', 'key-replaced')
      return show(context, { shown: { kind, key: replacement.key, replacement } })
    } catch (error) {
      return refuse(context, { kind, form: 'reset', values }, error)
    }
  }

  function refuse(
    context: SignedInContext,
    { kind, form, values }: { kind: KeyKind; form: KeyForm; values: FormState['values'] },
    error: unknown,
  ): Promise<PortalResponse> {
    const refusal = formRefusal(error, values)
    return show(context, { refused: { kind, form, state: refusal.state } }, refusal)
  }

  async function endOverlap({ actions, viewer }: SignedInContext): Promise<PortalResponse> {
    const hasEnded = await actions.keys.endOverlap(viewer.account.id)
    return redirectTo('/integration', hasEnded ? 'overlap-ended' : 'overlap-over')
  }

  /** The current state of an overlap, polled by the script of the page. */
  async function readUsage({ actions, viewer }: SignedInContext): Promise<PortalResponse> {
    const { previousSecretKey: previous, secretKey } = await actions.keys.status(viewer.account.id)
    if (!previous) {
      return {
        kind: 'data',
        data: { isOver: true, text: 'The old secret key has expired: only the new one works.' },
      }
    }
    const overlap = { ...previous, since: secretKey.createdAt }
    const data = { isOver: false, isUsed: isInUse(overlap), text: usageText(overlap, clock()) }
    return { kind: 'data', data }
  }

  async function tryIt(context: SignedInContext): Promise<PortalResponse> {
    const callable = callableRoutes(routes, context.viewer.account)
    const chosen = callable.find(({ name }) => name === context.form('route'))
    const outcome = chosen && (await tryRoute(chosen, context))
    return show(context, { tryIt: { routes: callable, chosen: chosen?.name, outcome } })
  }

  const keyPages = (
    kind: KeyKind,
    path: '/integration/secret-key' | '/integration/api-key',
  ): readonly PortalPage[] => [
    { path: `${path}/reveal`, post: (context: SignedInContext) => reveal(context, kind) },
    { path: `${path}/reset`, post: (context: SignedInContext) => reset(context, kind) },
  ]
  return [
    { path: '/integration', get: (context) => show(context) },
    ...keyPages('secretKey', '/integration/secret-key'),
    ...keyPages('apiKey', '/integration/api-key'),
    { path: '/integration/secret-key/end-overlap', post: endOverlap },
    { path: '/integration/usage', get: readUsage },
    { path: '/integration/try', post: tryIt },
    ...createFurtherKeyPages(show, options),
  ]
}

interface ReplacedKey {
  readonly key: string
  /** How long the previous key keeps working. */
  readonly graceSeconds: number
}

/**
 * Replaces the key that the form names; undefined if it has been replaced since the form was shown.
 * @throws GatehouseError `request-invalid` (field `graceSeconds`)
 */
export async function replaceKey(
  { actions, form }: SignedInContext,
  id: string,
  kind: KeyKind,
): Promise<ReplacedKey | undefined> {
  const createdAt = Number(form('replaces'))
  const graceSeconds = kind === 'apiKey' ? 0 : graceSecondsOf(form)
  const key =
    kind === 'apiKey'
      ? await actions.keys.replaceApiKey(id, createdAt)
      : await actions.keys.replaceSecretKey(id, createdAt, graceSeconds)
  return key === undefined ? undefined : { key, graceSeconds }
}

/** @throws GatehouseError `request-invalid` (field `graceSeconds`) if nothing was chosen */
function graceSecondsOf(form: SignedInContext['form']): number {
  const text = form('graceSeconds')
  if (!/^\d{1,9}$/.test(text))
    throw invalidField('graceSeconds', 'Choose how long the old secret key keeps working.')
  return Number(text)
}
