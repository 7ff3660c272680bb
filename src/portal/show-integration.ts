import type { SecretKeyStatus } from '#accounts/secret-keys.ts'
import { defaultKeyName } from '#store/secret-keys.ts'
import type { PortalOptions, SignedInContext } from './page-context.ts'
import type { PortalResponse } from './portal-response.ts'
import { callableRoutes } from './try-it.ts'
import { type IntegrationView, integrationPage } from './views/integration.ts'

/** Shows the page *Integration* of the viewer, with what a form on it has led to. */
export type ShowIntegration = (
  context: SignedInContext,
  more?: Partial<IntegrationView>,
  refusal?: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> },
) => Promise<PortalResponse>

/** Those beside the default one, which has a card of its own. */
export function furtherKeysOf(secretKeys: readonly SecretKeyStatus[]): readonly SecretKeyStatus[] {
  return secretKeys.filter(({ name }) => name !== defaultKeyName)
}

export function createShowIntegration({
  publicOrigin,
  routes,
  carriers,
}: Pick<PortalOptions, 'publicOrigin' | 'routes' | 'carriers'>): ShowIntegration {
  /** The URL of a route, for the code examples. */
  function snippetTarget(route: { readonly path: string; readonly host: string | undefined } | undefined) {
    const { protocol, port } = new URL(publicOrigin)
    const host = route?.host
    const baseUrl = host === undefined ? publicOrigin : `${protocol}//${host}${port && `:${port}`}`
    return { baseUrl, path: route?.path ?? '/' }
  }

  return async function show(context, more = {}, { status = 200, headers = {} } = {}) {
    const { actions, viewer } = context
    const { account } = viewer
    const [keys, secretKeys] = await Promise.all([
      actions.keys.status(account.id),
      actions.secretKeys.list(account.id),
    ])
    const callable = callableRoutes(routes, account)
    const { baseUrl, path } = snippetTarget(callable[0])
    const view: IntegrationView = {
      accountId: account.id,
      keys,
      furtherKeys: furtherKeysOf(secretKeys),
      snippets: { baseUrl, path, carriers },
      tryIt: { routes: callable, chosen: undefined, outcome: undefined },
      ...more,
    }
    return context.show((frame) => integrationPage(frame, view), { status, headers })
  }
}
