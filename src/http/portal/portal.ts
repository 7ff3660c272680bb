import type { FastifyError, FastifyInstance } from 'fastify'
import { takePortalAct } from '../../auth/limits.ts'
import { GatehouseError } from '../../errors.ts'
import { jsonBytesMax } from '../json-body.ts'
import { ownMethods } from '../own-route.ts'
import { accountPages } from './account-pages.ts'
import { accountsPages } from './accounts-pages.ts'
import { type Answer, goTo, setSafeHeaders } from './answer.ts'
import { readAssets } from './assets.ts'
import { auditPages } from './audit-pages.ts'
import { csrfField, isCsrfTokenOf, looksLikeCsrfToken } from './csrf.ts'
import { doorPages } from './door-pages.ts'
import { acceptFormsOnly } from './form-body.ts'
import { createPortalGate, isPost, viewerOf, wantsHtml } from './gate.ts'
import { integrationPages } from './integration-pages.ts'
import { createNotices } from './notices.ts'
import type { PortalOptions } from './options.ts'
import { formHome, homeOf, isOpen, type PageAtHome, type Pages, type PortalPage } from './pages.ts'
import { profilePages } from './profile-pages.ts'
import { sendAnswer, sendAsset, sendError } from './send.ts'
import { sessionsPages } from './sessions-pages.ts'
import { createVisit, signedIn, type Visit, type VisitParts } from './visit.ts'

const everyPart: readonly Pages[] = [
  doorPages,
  integrationPages,
  sessionsPages,
  profilePages,
  accountsPages,
  accountPages,
  auditPages,
]

/** The portal, in a scope of its own: everything at and below its path, for every method. */
export function registerPortal(scope: FastifyInstance, options: PortalOptions): void {
  const { path: base, cookie } = options
  const parts: VisitParts = { options, assets: readAssets(base), notices: createNotices(cookie) }
  const admit = createPortalGate(parts)
  acceptFormsOnly(scope)
  scope.addHook('onRequest', async (_request, reply) => setSafeHeaders(reply))
  const pages = everyPart.flatMap((make) => make(options))
  const places = new Map(
    pages.map((page) => [base + page.path, { page, home: homeOf(page.path, pages) }] as const),
  )
  scope.setErrorHandler<FastifyError>((error, request, reply) => {
    const place = places.get(request.routeOptions.url ?? '')
    return sendError(parts, error, { request, reply, place })
  })
  for (const [url, place] of places) {
    const { page } = place
    scope.route({
      url,
      method: [...ownMethods],
      bodyLimit: page.bytesMax ?? jsonBytesMax,
      onRequest: (request, reply) => admit(place, request, reply),
      // While the form was on its way the viewer may have been signed out, or lost the role Admin.
      preHandler: async (request, reply) =>
        isPost(request) && viewerOf(request) ? admit(place, request, reply) : undefined,
      handler: async (request, reply) => {
        const whose = { request, reply, viewer: viewerOf(request) }
        const answered = isPost(request) ? base + formHome(request, place) : undefined
        const visit = createVisit(parts, { ...whose, home: answered })
        return sendAnswer(parts, reply, await answer(place, visit, options))
      },
    })
  }
  const rest = { method: [...ownMethods], handler: async () => nothingThere() }
  scope.route({
    ...rest,
    url: `${base}/assets/*`,
    onRequest: async (request, reply) => sendAsset(parts.assets, request, reply),
  })
  scope.route({ ...rest, url: `${base}/*`, onRequest: async () => nothingThere() })
}

async function answer(place: PageAtHome, visit: Visit, options: PortalOptions): Promise<Answer> {
  const { request, viewer } = visit
  const { page } = place
  if (isPost(request) && !isOwnForm(page, visit, options)) {
    if (isOfOtherSession(visit)) return goTo(formHome(request, place), 'signed-in-again')
    const cause = new Error('the form is not of the session of its cookie')
    throw new GatehouseError('cross-site-request', { cause })
  }
  const method = isPost(request) ? 'post' : 'get'
  if (isOpen(page)) return page[method]?.(visit) ?? nothingThere()
  if (!viewer) throw new GatehouseError('credentials-missing')
  // After its token was checked: what others make a browser send does not count.
  if (isPost(request)) await takePortalAct(options.limiter, viewer.account.id)
  return page[method]?.(signedIn(visit, viewer, options)) ?? nothingThere()
}

function isOwnForm(page: PortalPage, { request, viewer, form }: Visit, { cookie }: PortalOptions): boolean {
  const given = form(csrfField)
  const own = viewer ? cookie.read(request) : undefined
  if (isCsrfTokenOf(own, given)) return true
  // If the viewer has signed in meanwhile, in another tab, a sign-in form still has the earlier token.
  return isOpen(page) && isCsrfTokenOf(cookie.readFormToken(request), given)
}

/**
 * Whether the viewer signed in again in another tab, while this one still has an older page. The browser says that it
 * comes from no other site; nothing is done all the same, as a page of a backend could have sent it.
 */
function isOfOtherSession({ request, viewer, form }: Visit): boolean {
  const isOurs = request.headers['sec-fetch-site'] === 'same-origin'
  return viewer !== undefined && isOurs && wantsHtml(request) && looksLikeCsrfToken(form(csrfField))
}

function nothingThere(): never {
  throw new GatehouseError('route-not-found', { detail: 'There is no such page.' })
}
