import { createProblem } from '#gateway/refusals/send-problem.ts'
import { type GatehouseError, reworded } from '#platform/errors/gatehouse-error.ts'
import { createPageContext, type PortalParts } from './page-context.ts'
import { isPublic, type RegisteredPage, resolveFormPagePath } from './portal-page.ts'
import { acceptsHtml, isPost, type PortalRequest } from './portal-request.ts'
import { answerPage, type PortalResponse } from './portal-response.ts'
import { fieldMessage, shownMessage, type Texts } from './texts/texts.ts'
import { type ErrorContent, errorPage } from './views/sign-in-page.ts'

interface FailedRequest {
  readonly request: PortalRequest
  /** The requested page; undefined = there is no such page. */
  readonly registered: RegisteredPage | undefined
}

/** Answers an error in the viewer's language: with a page for browsers, with problem+json for the script of a page. */
export function answerError(
  parts: PortalParts,
  error: GatehouseError,
  failed: FailedRequest,
): PortalResponse {
  const { request, registered } = failed
  const context = createPageContext(parts, { request })
  const { texts } = context
  const { title, detail } = errorText(error, effectOf(request, registered), texts)
  const errors = error.errors?.map((each) => ({ ...each, message: shownMessage(texts, each.message) }))
  const shown = detail === undefined ? error : reworded(error, { detail, errors })
  const { status, headers, body } = createProblem(request.arrival, shown)
  if (!acceptsHtml(request)) return { kind: 'content', status, headers, body: Buffer.from(body) }
  const requestId = String(headers['X-Request-Id'])
  const fields = error.errors?.filter(({ field }) => field !== 'request') ?? []
  const content = {
    title,
    detail: fields.length > 0 ? fields.map((each) => fieldMessage(texts, each)).join(' ') : detail,
    requestId,
    recoveryLink: recoveryLink(error, failed, { base: parts.options.path, texts }),
  }
  return answerPage(context.show((frame) => errorPage(frame, content), { status, headers }))
}

function recoveryLink(
  { status, code }: GatehouseError,
  { request, registered }: FailedRequest,
  { base, texts: { errors } }: { readonly base: string; readonly texts: Texts },
): ErrorContent['recoveryLink'] {
  // The audit log links to deleted accounts, and is the only page that still shows them.
  const id = code === 'account-not-found' && request.param('id')
  if (id) return { href: `${base}/audit?who=${encodeURIComponent(id)}`, text: errors.showInAuditLog }
  // Not the URL that failed: what the provider has sent in it works only once.
  if (code === 'sign-in-refused' || code === 'sign-in-provider-unavailable')
    return { href: `${base}/sign-in`, text: errors.backToSignIn }
  if (status < 500) return undefined
  // A server error may be temporary; the start of the portal would fail too.
  const retryPath =
    registered && isPost(request) ? base + resolveFormPagePath(request, registered) : request.url
  return { href: retryPath, text: errors.tryAgain }
}

/** Nothing is changed before the viewer is known, except by public pages. */
function effectOf(request: PortalRequest, registered: RegisteredPage | undefined): RequestEffect {
  if (!isPost(request)) return 'read'
  return !registered || (!isPublic(registered.page) && !request.viewer) ? 'nothing' : 'unknown'
}

/**
 * What a failed request may have changed: it only read, it was refused before any change, or that is unknown. It may
 * have failed half-way, or the store did not answer: if people were told that nothing was saved, they would submit
 * twice.
 */
type RequestEffect = 'read' | 'nothing' | 'unknown'

/** The portal's text for an error: the texts of the errors table are written for API clients. */
export function errorText(
  { code, title, detail }: GatehouseError,
  effect: RequestEffect,
  texts: Texts,
): Pick<ErrorContent, 'title' | 'detail'> {
  switch (code) {
    case 'store-unavailable': {
      const { unavailable } = texts.errors
      return { title: unavailable.title, detail: unavailable[effect] }
    }
    case 'route-not-found':
      return texts.errors.pageNotFound
    case 'role-forbidden':
      return texts.errors.administratorsOnly
    default:
      return {
        title: shownMessage(texts, title),
        detail: detail === undefined ? undefined : shownMessage(texts, detail),
      }
  }
}
