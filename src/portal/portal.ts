import type { FastifyError, FastifyInstance } from 'fastify'
import { takePortalAction } from '../auth/limits.ts'
import { jsonBytesMax } from '../endpoints/json-body.ts'
import { GatehouseError } from '../errors/gatehouse-error.ts'
import { ownMethods } from '../routes/own-paths.ts'
import { accountPages } from './account-pages.ts'
import { accountsPages } from './accounts-pages.ts'
import { auditPages } from './audit-pages.ts'
import { csrfField, isCsrfTokenOf, looksLikeCsrfToken } from './csrf.ts'
import { createFlashNotices } from './flash-notices.ts'
import { acceptFormsOnly } from './form-body.ts'
import { integrationPages } from './integration-pages.ts'
import { createPageContext, type PageContext, type PortalParts, toSignedInContext } from './page-context.ts'
import { acceptsHtml, createPortalGate, isPost, viewerOf } from './portal-gate.ts'
import type { PortalOptions } from './portal-options.ts'
import {
  type CreatePages,
  formPagePathOf,
  isPublic,
  type PortalPage,
  type RegisteredPage,
  resolveFormPagePath,
} from './portal-page.ts'
import { type PortalResponse, redirectTo, setSecurityHeaders } from './portal-response.ts'
import { profilePages } from './profile-pages.ts'
import { readAssets } from './read-assets.ts'
import { sendAsset, sendError, sendResponse } from './send-response.ts'
import { sessionsPages } from './sessions-pages.ts'
import { signInPages } from './sign-in-pages.ts'

const pageFactories: readonly CreatePages[] = [
  signInPages,
  integrationPages,
  sessionsPages,
  profilePages,
  accountsPages,
  accountPages,
  auditPages,
]

/** The portal, in its own Fastify scope: everything at and below its path, for every method. */
export function registerPortal(scope: FastifyInstance, options: PortalOptions): void {
  const { path: base, cookie } = options
  const parts: PortalParts = { options, assets: readAssets(base), notices: createFlashNotices(cookie) }
  const admit = createPortalGate(parts)
  acceptFormsOnly(scope)
  scope.addHook('onRequest', async (_request, reply) => setSecurityHeaders(reply))
  const pages = pageFactories.flatMap((make) => make(options))
  const registeredPages = new Map(
    pages.map(
      (page) => [base + page.path, { page, formPagePath: formPagePathOf(page.path, pages) }] as const,
    ),
  )
  scope.setErrorHandler<FastifyError>((error, request, reply) => {
    const registered = registeredPages.get(request.routeOptions.url ?? '')
    return sendError(parts, error, { request, reply, registered })
  })
  for (const [url, registered] of registeredPages) {
    const { page } = registered
    scope.route({
      url,
      method: [...ownMethods],
      bodyLimit: page.bytesMax ?? jsonBytesMax,
      onRequest: (request, reply) => admit(registered, request, reply),
      // While the form was being uploaded the viewer may have been signed out, or lost the role Admin.
      preHandler: async (request, reply) =>
        isPost(request) && viewerOf(request) ? admit(registered, request, reply) : undefined,
      handler: async (request, reply) => {
        const exchange = { request, reply, viewer: viewerOf(request) }
        const formPagePath = isPost(request) ? base + resolveFormPagePath(request, registered) : undefined
        const context = createPageContext(parts, { ...exchange, formPagePath })
        return sendResponse(parts, reply, await handlePage(registered, context, options))
      },
    })
  }
  const anyMethod = { method: [...ownMethods], handler: async () => throwNotFound() }
  scope.route({
    ...anyMethod,
    url: `${base}/assets/*`,
    onRequest: async (request, reply) => sendAsset(parts.assets, request, reply),
  })
  scope.route({ ...anyMethod, url: `${base}/*`, onRequest: async () => throwNotFound() })
}

async function handlePage(
  registered: RegisteredPage,
  context: PageContext,
  options: PortalOptions,
): Promise<PortalResponse> {
  const { request, viewer } = context
  const { page } = registered
  if (isPost(request) && !hasValidCsrfToken(page, context, options)) {
    if (isFromEarlierSession(context))
      return redirectTo(resolveFormPagePath(request, registered), 'signed-in-again')
    const cause = new Error('CSRF token does not match the session cookie')
    throw new GatehouseError('cross-site-request', { cause })
  }
  const method = isPost(request) ? 'post' : 'get'
  if (isPublic(page)) return page[method]?.(context) ?? throwNotFound()
  if (!viewer) throw new GatehouseError('credentials-missing')
  // After the CSRF check: forged requests must not use up the limit.
  if (isPost(request)) await takePortalAction(options.limiter, viewer.account.id)
  return page[method]?.(toSignedInContext(context, viewer, options)) ?? throwNotFound()
}

function hasValidCsrfToken(
  page: PortalPage,
  { request, viewer, form }: PageContext,
  { cookie }: PortalOptions,
): boolean {
  const given = form(csrfField)
  const sessionToken = viewer ? cookie.read(request) : undefined
  if (isCsrfTokenOf(sessionToken, given)) return true
  // If the viewer has since signed in, in another tab, a sign-in form still has the earlier token.
  return isPublic(page) && isCsrfTokenOf(cookie.readFormToken(request), given)
}

/**
 * Whether the viewer signed in again in another tab, while this one still has an older page. The browser reports the
 * same origin; the form is refused all the same, as a page of a backend could have sent it.
 */
function isFromEarlierSession({ request, viewer, form }: PageContext): boolean {
  const isSameOrigin = request.headers['sec-fetch-site'] === 'same-origin'
  return viewer !== undefined && isSameOrigin && acceptsHtml(request) && looksLikeCsrfToken(form(csrfField))
}

function throwNotFound(): never {
  throw new GatehouseError('route-not-found', { detail: 'No such page.' })
}
