import { randomBytes } from 'node:crypto'
import type { AccountActions } from '../accounts/account-actions.ts'
import { adminRole, fullName } from '../accounts/account-input.ts'
import { actorOf } from '../accounts/audit-entry-factory.ts'
import type { Viewer } from '../auth/portal-sessions.ts'
import type { Html } from '../pages/html.ts'
import type { Visitor } from '../store/visitor.ts'
import { csrfTokenOf } from './csrf.ts'
import type { FlashNotices } from './flash-notices.ts'
import { type Files, type Form, filesOf, formOf } from './form-body.ts'
import type { PortalOptions } from './portal-options.ts'
import type { PortalRequest } from './portal-request.ts'
import type { PageResponse } from './portal-response.ts'
import type { PortalAssets } from './read-assets.ts'
import type { PageFrame } from './views/frame.ts'

/** One request to the portal, with its visitor and viewer. */
export interface PageContext {
  readonly request: PortalRequest
  readonly visitor: Visitor
  readonly viewer: Viewer | undefined
  readonly form: Form
  readonly file: Files
  /** Renders a page; to be called once, as it takes the pending notice. Default status: 200. */
  show(render: (frame: PageFrame) => Html, refusal?: Pick<PageResponse, 'status' | 'headers'>): PageResponse
}

/** A request of a signed-in viewer. */
export interface SignedInContext extends PageContext {
  readonly viewer: Viewer
  /** Account actions on behalf of the viewer, who is named in the audit log. */
  readonly actions: AccountActions
}

export interface PortalParts {
  readonly options: PortalOptions
  readonly assets: PortalAssets
  readonly notices: FlashNotices
}

const nonceBytes = 16

export function createPageContext(
  { options, assets, notices }: PortalParts,
  {
    request,
    viewer,
    formPagePath,
  }: Pick<PageContext, 'request' | 'viewer'> & Pick<PageFrame, 'formPagePath'>,
): PageContext {
  const { cookie, clock, path, roles } = options

  /** The CSRF token of the session or, without one, of the form cookie. */
  function csrfToken(): string {
    const token = viewer ? cookie.read(request) : cookie.readFormToken(request)
    return csrfTokenOf(token ?? cookie.setFormToken(request))
  }

  function frame(status: number): PageFrame {
    return {
      base: path,
      assets,
      nonce: randomBytes(nonceBytes).toString('base64'),
      now: clock(),
      csrfToken: csrfToken(),
      viewer: viewer && {
        id: viewer.account.id,
        email: viewer.account.email,
        name: fullName(viewer.account),
        isAdmin: viewer.account.role === adminRole,
      },
      roles,
      // An error page does not consume the notice: the next page shows it.
      notice: status < 500 ? notices.take(request) : undefined,
      formPagePath,
    }
  }

  function show(
    render: (frame: PageFrame) => Html,
    { status, headers }: Pick<PageResponse, 'status' | 'headers'> = { status: 200, headers: {} },
  ): PageResponse {
    const made = frame(status)
    return { kind: 'page', nonce: made.nonce, html: render(made), status, headers }
  }

  const { visitor } = request
  return { request, visitor, viewer, form: formOf(request), file: filesOf(request), show }
}

export function toSignedInContext(
  context: PageContext,
  viewer: Viewer,
  options: PortalOptions,
): SignedInContext {
  return { ...context, viewer, actions: options.actionsOf(actorOf(viewer, context.visitor)) }
}
