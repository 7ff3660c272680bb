import type { KeyKind } from '../../accounts/keys.ts'
import type { FormState } from '../../portal/frame.ts'
import { type IntegrationView, integrationPage, type KeyForm } from '../../portal/integration.ts'
import { isInUse, usageText } from '../../portal/key-card.ts'
import { type Answer, goTo } from './answer.ts'
import { confirmPassword } from './confirm.ts'
import { formRefusal, wrongField } from './form-refusal.ts'
import { wantsHtml } from './gate.ts'
import type { Pages, PortalPage } from './pages.ts'
import { callableRoutes, createTryIt } from './try-it.ts'
import type { SignedInVisit } from './visit.ts'

/** The two keys of one's own account, and how to call with them. */
export const integrationPages: Pages = (options) => {
  const { signIn, publicOrigin, routes, clock } = options
  const tryRoute = createTryIt(options)

  async function show(
    visit: SignedInVisit,
    more: Partial<IntegrationView> = {},
    refusal: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Answer> {
    const { account } = visit.viewer
    const keys = await visit.acts.keys.status(account.id)
    const callable = callableRoutes(routes, account)
    const { baseUrl, path } = placeOf(callable[0])
    const view: IntegrationView = {
      accountId: account.id,
      keys,
      snippets: { baseUrl, path },
      tryIt: { routes: callable, chosen: undefined, tried: undefined },
      ...more,
    }
    const { status = 200, headers = {} } = refusal
    return visit.show((frame) => integrationPage(frame, view), { status, headers })
  }

  /** The URL of a route, for the code to paste. */
  function placeOf(route: { readonly path: string; readonly host: string | undefined } | undefined) {
    const { protocol, port } = new URL(publicOrigin)
    const host = route?.host
    const baseUrl = host === undefined ? publicOrigin : `${protocol}//${host}${port && `:${port}`}`
    return { baseUrl, path: route?.path ?? '/' }
  }

  async function reveal(visit: SignedInVisit, kind: KeyKind): Promise<Answer> {
    const { acts, viewer } = visit
    try {
      await confirmPassword(visit, signIn)
      const key = await acts.keys.reveal(viewer.account.id, kind)
      if (key === undefined) throw wrongField('password', 'No copy of this key is kept.')
      return wantsHtml(visit.request)
        ? show(visit, { shown: { kind, key } })
        : { kind: 'data', data: { key } }
    } catch (error) {
      if (!wantsHtml(visit.request)) throw error
      return refuse(visit, { kind, form: 'reveal', values: {} }, error)
    }
  }

  async function reset(visit: SignedInVisit, kind: KeyKind): Promise<Answer> {
    const { viewer, form } = visit
    const { id } = viewer.account
    const values = { graceSeconds: form('graceSeconds') }
    try {
      await confirmPassword(visit, signIn)
      // A form that is sent again must not reset the key that it made.
      const made = await replaceKey(visit, id, kind)
      if (made === undefined) return goTo('/integration', 'key-replaced')
      return show(visit, { shown: { kind, key: made.key, made } })
    } catch (error) {
      return refuse(visit, { kind, form: 'reset', values }, error)
    }
  }

  function refuse(
    visit: SignedInVisit,
    { kind, form, values }: { kind: KeyKind; form: KeyForm; values: FormState['values'] },
    error: unknown,
  ): Promise<Answer> {
    const refusal = formRefusal(error, values)
    return show(visit, { refused: { kind, form, state: refusal.state } }, refusal)
  }

  async function endOverlap({ acts, viewer }: SignedInVisit): Promise<Answer> {
    const hasEnded = await acts.keys.endOverlap(viewer.account.id)
    return goTo('/integration', hasEnded ? 'overlap-ended' : 'overlap-over')
  }

  /** The present state of an overlap, for the script of the page. */
  async function tellUsage({ acts, viewer }: SignedInVisit): Promise<Answer> {
    const { previousSecretKey: previous, secretKey } = await acts.keys.status(viewer.account.id)
    if (!previous) {
      return { kind: 'data', data: { isOver: true, text: 'It has ended: only the new secret works.' } }
    }
    const overlap = { ...previous, since: secretKey.createdAt }
    const data = { isOver: false, isUsed: isInUse(overlap), text: usageText(overlap, clock()) }
    return { kind: 'data', data }
  }

  async function tryIt(visit: SignedInVisit): Promise<Answer> {
    const callable = callableRoutes(routes, visit.viewer.account)
    const chosen = callable.find(({ name }) => name === visit.form('route'))
    const tried = chosen && (await tryRoute(chosen, visit))
    return show(visit, { tryIt: { routes: callable, chosen: chosen?.name, tried } })
  }

  const ofKey = (
    kind: KeyKind,
    path: '/integration/secret-key' | '/integration/api-key',
  ): readonly PortalPage[] => [
    { path: `${path}/reveal`, post: (visit: SignedInVisit) => reveal(visit, kind) },
    { path: `${path}/reset`, post: (visit: SignedInVisit) => reset(visit, kind) },
  ]
  return [
    { path: '/integration', get: (visit) => show(visit) },
    ...ofKey('secretKey', '/integration/secret-key'),
    ...ofKey('apiKey', '/integration/api-key'),
    { path: '/integration/secret-key/end-overlap', post: endOverlap },
    { path: '/integration/usage', get: tellUsage },
    { path: '/integration/try', post: tryIt },
  ]
}

interface MadeKey {
  readonly key: string
  /** How long the previous key still works. */
  readonly graceSeconds: number
}

/**
 * Replaces the key that the page with the form was about; undefined if it was replaced meanwhile.
 * @throws GatehouseError `request-invalid` (field `graceSeconds`)
 */
export async function replaceKey(
  { acts, form }: SignedInVisit,
  id: string,
  kind: KeyKind,
): Promise<MadeKey | undefined> {
  const createdAt = Number(form('replaces'))
  const graceSeconds = kind === 'apiKey' ? 0 : graceSecondsOf(form)
  const key =
    kind === 'apiKey'
      ? await acts.keys.replaceApiKey(id, createdAt)
      : await acts.keys.replaceSecretKey(id, createdAt, graceSeconds)
  return key === undefined ? undefined : { key, graceSeconds }
}

/** @throws GatehouseError `request-invalid` (field `graceSeconds`) if nothing was chosen */
function graceSecondsOf(form: SignedInVisit['form']): number {
  const text = form('graceSeconds')
  if (!/^\d{1,9}$/.test(text)) throw wrongField('graceSeconds', 'Choose how long the old one works.')
  return Number(text)
}
