import { createProblem } from '#gateway/refusals/send-problem.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { createPageContext, type PortalParts } from './page-context.ts'
import { isPublic, type RegisteredPage, resolveFormPagePath } from './portal-page.ts'
import { acceptsHtml, isPost, type PortalRequest } from './portal-request.ts'
import { answerPage, type PortalResponse } from './portal-response.ts'
import { errorPage, type RecoveryLink } from './views/sign-in-page.ts'

interface FailedRequest {
  readonly request: PortalRequest
  /** The requested page; undefined = there is no such page. */
  readonly registered: RegisteredPage | undefined
}

/** Answers with an error: a page to a browser, problem+json to the script. */
export function answerError(
  parts: PortalParts,
  error: GatehouseError,
  { request, registered }: FailedRequest,
): PortalResponse {
  const { title, detail } = errorText(error, effectOf(request, registered))
  const { status, headers, body } = createProblem(request.arrival, withDetail(error, detail))
  if (!acceptsHtml(request)) return { kind: 'content', status, headers, body: Buffer.from(body) }
  const requestId = String(headers['X-Request-Id'])
  const context = createPageContext(parts, { request, viewer: request.viewer })
  const content = {
    title,
    detail,
    requestId,
    recoveryLink: recoveryLink(error, { request, registered, base: parts.options.path }),
  }
  return answerPage(context.show((frame) => errorPage(frame, content), { status, headers }))
}

function recoveryLink(
  { status, code }: GatehouseError,
  { request, registered, base }: FailedRequest & { readonly base: string },
): RecoveryLink | undefined {
  // The audit log links to deleted accounts, and is the only page that still shows them.
  const id = code === 'account-not-found' && request.param('id')
  if (id) return { href: `${base}/audit?who=${encodeURIComponent(id)}`, text: 'Show in audit log' }
  // Not the URL that failed, as what the provider has sent works only once.
  if (code === 'sign-in-refused' || code === 'sign-in-provider-unavailable')
    return { href: `${base}/sign-in`, text: 'Back to sign-in' }
  if (status < 500) return undefined
  // A server error may be temporary; the start of the portal would fail too.
  const retryPath =
    registered && isPost(request) ? base + resolveFormPagePath(request, registered) : request.url
  return { href: retryPath, text: 'Try again' }
}

/** Nothing is changed before the viewer is known, except by public pages. */
function effectOf(request: PortalRequest, registered: RegisteredPage | undefined): RequestEffect {
  if (!isPost(request)) return 'read'
  return !registered || (!isPublic(registered.page) && !request.viewer) ? 'nothing' : 'unknown'
}

/** The same error with another detail. */
function withDetail(error: GatehouseError, detail: string | undefined): GatehouseError {
  if (detail === undefined || detail === error.detail) return error
  return new GatehouseError(error.code, { cause: error.cause, detail })
}

/** What a failed request may have changed: it only read, it was refused before any change, or that is unknown. */
type RequestEffect = 'read' | 'nothing' | 'unknown'

interface ErrorText {
  readonly title: string
  readonly detail: string | undefined
}

const effectText: Readonly<Record<RequestEffect, string>> = {
  read: '',
  nothing: ' Nothing was saved.',
  // It may have failed half-way, or the store did not answer: if people were told that nothing was saved, they would
  // submit twice.
  unknown: ' Your change may or may not have been saved: check before you submit again.',
}

/** The portal's text for an error: the texts of the errors table are written for API clients. */
export function errorText({ code, title, detail }: GatehouseError, effect: RequestEffect): ErrorText {
  switch (code) {
    case 'store-unavailable':
      return {
        title: 'Temporarily unavailable',
        detail: `This page is temporarily unavailable.${effectText[effect]} Recently used keys keep working. Try again in a moment.`,
      }
    case 'role-forbidden':
      return {
        title: 'Administrators only',
        detail: 'Your account does not have the role this page requires.',
      }
    default:
      return { title, detail }
  }
}
