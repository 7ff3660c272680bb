import { randomBytes } from 'node:crypto'
import type { AccountActions, AccountActionsOf } from '#accounts/account-actions.ts'
import { fullName } from '#accounts/account-input.ts'
import { actorOf } from '#accounts/audit-log.ts'
import type { VerifyEmail } from '#accounts/email-verification.ts'
import type { ReceiverActions } from '#accounts/events/receiver-actions.ts'
import type { IsReturnPath } from '#gateway/browser/sign-in-return.ts'
import type { IdentityHeaders } from '#gateway/forward/identity-headers.ts'
import type { RouteOptions } from '#gateway/routes/compile.ts'
import type { Carriers } from '#identity/carriers.ts'
import type { BlockedSubjectsOf } from '#identity/issuers/subjects.ts'
import { quotaUnitOf } from '#identity/limits/plans.ts'
import type { RateLimiter } from '#identity/limits/rate-limiter.ts'
import type { PasswordResets } from '#identity/passwords/password-links.ts'
import type { SignIn } from '#identity/portal/sign-in.ts'
import type { SignInCodes } from '#identity/portal/sign-in-codes.ts'
import type { SecondFactorPolicy } from '#identity/second-factor/second-factors.ts'
import type { Viewer } from '#identity/tokens/issued-tokens.ts'
import type { Html } from '#platform/pages/html.ts'
import type { Clock } from '#platform/time.ts'
import { adminRole } from '#store/accounts.ts'
import type { Actor } from '#store/audit-entry.ts'
import type { Visitor } from '#store/sessions.ts'
import type { Branding } from './branding.ts'
import type { PortalCookies } from './cookies.ts'
import { type Files, type Form, filesOf, formOf } from './forms/body.ts'
import { csrfTokenOf } from './forms/csrf.ts'
import type { FlashNotices } from './forms/flash-notices.ts'
import { frameOidcOf, type PortalOidc } from './portal-oidc.ts'
import { framePasskeysOf, type PortalPasskeys } from './portal-passkeys.ts'
import { languageOf, type PortalRequest } from './portal-request.ts'
import type { PageResponse } from './portal-response.ts'
import type { PortalAssets } from './read-assets.ts'
import { translationOf } from './texts/texts.ts'
import type { PageFrame, ScopedRoute } from './views/frame.ts'

/** One request to the portal, with its visitor and viewer. */
export interface PageContext extends Pick<PageFrame, 'language' | 'locale' | 'texts'> {
  readonly request: PortalRequest
  readonly visitor: Visitor
  readonly viewer: Viewer | undefined
  readonly form: Form
  readonly file: Files
  /** Renders a page; to be called once, as it takes the pending notice. Default status: 200. */
  show(render: (frame: PageFrame) => Html, refusal?: Pick<PageResponse, 'status' | 'headers'>): PageResponse
}

export interface SignedInContext extends PageContext {
  readonly viewer: Viewer
  /** Account actions on behalf of the viewer, who is named in the audit log. */
  readonly actions: AccountActions
}

export interface PortalOptions {
  /** The path of the portal, such as `/portal`, without a trailing slash; everything below it belongs to the portal. */
  readonly path: string
  readonly branding: Branding
  /** The public origin, for the code examples. */
  readonly publicOrigin: string
  /** The origin of the portal itself. */
  readonly origin: string
  readonly signIn: SignIn
  readonly canMailLinks: boolean
  /** Whether browsers that are signed in have token sessions too. */
  readonly hasAccessCookie: boolean
  /** undefined = people sign in by password only. */
  readonly oidc: PortalOidc | undefined
  /** undefined = passkeys cannot be used here. */
  readonly passkeys: PortalPasskeys | undefined
  /** Who must set up a second factor before anything else (`portal.requireSecondFactor`). */
  readonly requireSecondFactor: SecondFactorPolicy
  /** For the actions of a viewer: `actionsOf(actorOf(viewer, visitor))`. */
  readonly actionsOf: AccountActionsOf
  readonly verifyEmail: VerifyEmail
  readonly passwordResets: PasswordResets
  readonly limiter: Pick<RateLimiter, 'take'>
  readonly cookies: PortalCookies
  readonly clock: Clock
  /** The routes as configured, for *Try it*. */
  readonly routes: readonly RouteOptions[]
  readonly identityHeaders: IdentityHeaders
  /** How requests may carry secret keys. */
  readonly carriers: Carriers
  /** The roles that forms suggest. */
  readonly roles: readonly string[]
  /** The names of the plans in the config. */
  readonly plans: readonly string[]
  /** The names of the foreign issuers in the config. */
  readonly issuers: readonly string[]
  /** Blocks users of these issuers, for Admins: `subjectsOf(actorOf(viewer, visitor))`. */
  readonly subjectsOf: BlockedSubjectsOf
  /** The receivers of events, for Admins. */
  readonly receiversOf: (by: Actor) => ReceiverActions
  /** Which paths a page visit may be sent back to; undefined = no route sends page visits here. */
  readonly isReturnPath: IsReturnPath | undefined
  /** How page visits of other hosts return; undefined = the portal is on their host. */
  readonly signInReturn: PortalSignInReturn | undefined
  /** The URL of this gateway's listener; to be called once it listens. */
  gatewayUrl(): string
}

/** What a portal on a host of its own needs to send page visits back to their hosts. */
export interface PortalSignInReturn {
  readonly codes: Pick<SignInCodes, 'create'>
  /** Origins by host name. */
  readonly hosts: ReadonlyMap<string, string>
}

export interface PortalParts {
  readonly options: PortalOptions
  readonly assets: PortalAssets
  readonly notices: FlashNotices
  readonly scopedRoutes: readonly ScopedRoute[]
}

const nonceBytes = 16

export function createPageContext(
  { options, assets, notices, scopedRoutes }: PortalParts,
  { request, formPagePath }: Pick<PageContext, 'request'> & Pick<PageFrame, 'formPagePath'>,
): PageContext {
  const { cookies, clock, path, roles, plans, issuers, canMailLinks, hasAccessCookie, oidc, passkeys } =
    options
  const { viewer, visitor } = request
  const translation = translationOf(languageOf(request, viewer))

  /** The CSRF token of the session or, without one, of the form cookie. */
  function csrfToken(): string {
    const token = viewer ? cookies.readSession(request) : cookies.readFormToken(request)
    return csrfTokenOf(token ?? cookies.setFormToken(request))
  }

  function frame(status: number): PageFrame {
    const where = { viewer, path: (formPagePath ?? request.url).slice(path.length) }
    return {
      base: path,
      brand: options.branding.name,
      assets,
      nonce: randomBytes(nonceBytes).toString('base64'),
      now: clock(),
      ...translation,
      csrfToken: csrfToken(),
      viewer: viewer && {
        id: viewer.account.id,
        email: viewer.account.email,
        name: fullName(viewer.account),
        isAdmin: viewer.account.role === adminRole,
      },
      roles,
      plans,
      scopedRoutes,
      quotaUnit: quotaUnitOf(options.routes),
      issuers,
      canMailLinks,
      hasAccessCookie,
      // An error page does not consume the notice: the next page shows it.
      notice: status < 500 ? notices.take(request, translation.texts) : undefined,
      formPagePath,
      oidc: oidc && frameOidcOf(oidc, request, where),
      passkeys: passkeys && framePasskeysOf(passkeys, request, where),
    }
  }

  function show(
    render: (frame: PageFrame) => Html,
    { status, headers }: Pick<PageResponse, 'status' | 'headers'> = { status: 200, headers: {} },
  ): PageResponse {
    const made = frame(status)
    const hasImages = assets.logo !== undefined
    return { kind: 'page', nonce: made.nonce, hasImages, html: render(made), status, headers }
  }

  return { ...translation, request, visitor, viewer, form: formOf(request), file: filesOf(request), show }
}

export function toSignedInContext(
  context: PageContext,
  viewer: Viewer,
  options: PortalOptions,
): SignedInContext {
  return { ...context, viewer, actions: options.actionsOf(actorOf(viewer, context.visitor)) }
}
