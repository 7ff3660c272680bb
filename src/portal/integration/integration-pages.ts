import type { ReplacedKey } from '#accounts/keys/replace-key.ts'
import { invalidField } from '#platform/errors/gatehouse-error.ts'
import type { KeyKind } from '#platform/secrets/keys.ts'
import type { EpochMs } from '#platform/time.ts'
import { formRefusal } from '../forms/refusal.ts'
import type { PortalOptions, SignedInContext } from '../page-context.ts'
import type { CreatePages, PortalPage } from '../portal-page.ts'
import { acceptsHtml } from '../portal-request.ts'
import { type PageResult, redirectTo } from '../portal-response.ts'
import { type IntegrationView, integrationPage } from '../views/integration/integration-page.ts'
import { isInUse, overlapOf, usageText } from '../views/integration/key-card.ts'
import { createFurtherKeyPages, furtherKeysOf, type ShowIntegration } from './further-key-pages.ts'
import { callableRoutes, createTryIt, exampleTarget } from './try-it.ts'

/** The two keys of one's own account, and how to use them. */
export const integrationPages: CreatePages = (options) => {
  const { routes, clock } = options
  const show = createShowIntegration(options)
  const tryRoute = createTryIt(options)

  async function reveal(context: SignedInContext, kind: KeyKind): Promise<PageResult> {
    const { actions, viewer, request } = context
    const key = await actions.defaultKeys.reveal(viewer.account.id, kind)
    if (key === undefined) throw invalidField('password', context.texts.keys.notRevealable)
    return acceptsHtml(request) ? show(context, { shown: { kind, key } }) : { kind: 'data', data: { key } }
  }

  async function reset(context: SignedInContext, kind: KeyKind): Promise<PageResult> {
    // A form that is submitted again must not reset the key that it created.
    const replacement = await replaceKey(context, context.viewer.account.id, kind)
    if (replacement === undefined) return redirectTo('/integration', 'key-replaced')
    return show(context, { shown: { kind, key: replacement.key, replacement } })
  }

  const keyPages = (
    kind: KeyKind,
    path: '/integration/secret-key' | '/integration/api-key',
  ): readonly PortalPage[] => [
    {
      path: `${path}/reveal`,
      asksPassword: true,
      post: (context: SignedInContext) => reveal(context, kind),
      refused: (context: SignedInContext, error: unknown) => {
        if (!acceptsHtml(context.request)) throw error
        const refusal = formRefusal(context, error)
        return show(context, { refused: { kind, form: 'reveal', state: refusal.state } }, refusal)
      },
    },
    {
      path: `${path}/reset`,
      asksPassword: true,
      post: (context: SignedInContext) => reset(context, kind),
      refused: (context: SignedInContext, error: unknown) => {
        const refusal = formRefusal(context, error, { graceSeconds: context.form('graceSeconds') })
        return show(context, { refused: { kind, form: 'reset', state: refusal.state } }, refusal)
      },
    },
  ]
  return [
    { path: '/integration', get: (context) => show(context) },
    ...keyPages('secretKey', '/integration/secret-key'),
    ...keyPages('apiKey', '/integration/api-key'),
    {
      path: '/integration/secret-key/end-overlap',
      post: async ({ actions, viewer }) => {
        const hasEnded = await actions.defaultKeys.endOverlap(viewer.account.id)
        return redirectTo('/integration', hasEnded ? 'overlap-ended' : 'overlap-over')
      },
    },
    {
      path: '/integration/usage',
      get: async (context) => ({ kind: 'data', data: await currentOverlap(context, clock()) }),
    },
    {
      path: '/integration/try',
      post: async (context) => {
        const callable = callableRoutes(routes, context.viewer.account)
        const chosen = callable.find(({ name }) => name === context.form('route'))
        const { form } = context
        const request = { method: form('tryMethod'), rest: form('rest').trim(), body: form('body') }
        const outcome = chosen && (await tryRoute(chosen, request, context))
        return show(context, { tryIt: { routes: callable, chosen: chosen?.name, request, outcome } })
      },
    },
    ...createFurtherKeyPages(show, options),
  ]
}

function createShowIntegration({ publicOrigin, routes, carriers }: PortalOptions): ShowIntegration {
  return async function show(context, more = {}, refusal) {
    const { actions, viewer } = context
    const { account } = viewer
    const [keys, secretKeys] = await Promise.all([
      actions.defaultKeys.status(account.id),
      actions.secretKeys.list(account.id),
    ])
    const callable = callableRoutes(routes, account)
    const view: IntegrationView = {
      accountId: account.id,
      keys,
      furtherKeys: furtherKeysOf(secretKeys),
      snippets: { ...exampleTarget(publicOrigin, callable), carriers },
      tryIt: {
        routes: callable,
        chosen: undefined,
        request: { method: '', rest: '', body: '' },
        outcome: undefined,
      },
      ...more,
    }
    return context.show((frame) => integrationPage(frame, view), refusal)
  }
}

/** The current state of an overlap, polled by the script of the page. */
async function currentOverlap({ actions, viewer, locale, texts }: SignedInContext, now: EpochMs) {
  const keys = await actions.defaultKeys.status(viewer.account.id)
  const overlap = overlapOf(keys)
  if (!overlap) {
    const { overlapOver, revokedOver } = texts.keys
    return { isOver: true, text: keys.secretKey.exists ? overlapOver : revokedOver }
  }
  return { isOver: false, isUsed: isInUse(overlap), text: usageText(overlap, { now, locale, texts }) }
}

/**
 * Replaces the key that the form names; undefined if it has been replaced since the form was shown.
 * @throws GatehouseError `request-invalid` (field `graceSeconds`)
 */
export async function replaceKey(
  context: SignedInContext,
  id: string,
  kind: KeyKind,
): Promise<ReplacedKey | undefined> {
  const { actions, form } = context
  const createdAt = Number(form('replaces'))
  const graceSeconds = kind === 'apiKey' ? 0 : graceSecondsOf(context)
  const key =
    kind === 'apiKey'
      ? await actions.defaultKeys.replaceApiKey(id, createdAt)
      : await actions.defaultKeys.replaceSecretKey(id, createdAt, graceSeconds)
  return key === undefined ? undefined : { key, graceSeconds }
}

/** @throws GatehouseError `request-invalid` (field `graceSeconds`) if nothing was chosen */
function graceSecondsOf({ form, texts }: SignedInContext): number {
  const text = form('graceSeconds')
  if (!/^\d{1,9}$/.test(text)) throw invalidField('graceSeconds', texts.keys.chooseGrace)
  return Number(text)
}
