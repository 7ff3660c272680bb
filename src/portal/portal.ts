import type { RouteOptions } from '#gateway/routes/compile.ts'
import { takePortalAction } from '#identity/limits/take-rate.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { accountPages } from './accounts/account-pages.ts'
import { importPages } from './accounts/import-pages.ts'
import { accountListPages, severalAccountsPages } from './accounts/list-pages.ts'
import { newAccountPages } from './accounts/new-account-pages.ts'
import { adminPages } from './admin-pages.ts'
import { answerError } from './answer-error.ts'
import { isCsrfTokenOf, looksLikeCsrfToken } from './forms/csrf.ts'
import { createFlashNotices } from './forms/flash-notices.ts'
import { apiPages } from './integration/api-pages.ts'
import { integrationPages } from './integration/integration-pages.ts'
import { profilePages, sessionsPages, usagePages } from './own-account-pages.ts'
import {
  createPageContext,
  type PageContext,
  type PortalOptions,
  type PortalParts,
  toSignedInContext,
} from './page-context.ts'
import { createPortalGate } from './portal-gate.ts'
import {
  type CreatePages,
  confirmPassword,
  type FormHandlers,
  formPagePatternOf,
  isPublic,
  type PortalPage,
  type RegisteredPage,
  resolveFormPagePath,
} from './portal-page.ts'
import { acceptsHtml, isPost, languageOf, type PortalRequest } from './portal-request.ts'
import {
  answerContinue,
  answerData,
  answerPage,
  answerRedirect,
  type PageResult,
  type PortalResponse,
  redirectTo,
} from './portal-response.ts'
import { answerAsset, readAssets } from './read-assets.ts'
import { secondFactorPages } from './second-factor-pages.ts'
import { linkPages } from './sign-in/link-pages.ts'
import { oidcPages } from './sign-in/oidc-pages.ts'
import { confirmByPasskeyPages } from './sign-in/passkey-pages.ts'
import { signInPages } from './sign-in/sign-in-pages.ts'
import { csrfField } from './views/form.ts'
import type { ScopedRoute } from './views/frame.ts'

const pageFactories: readonly CreatePages[] = [
  signInPages,
  oidcPages,
  linkPages,
  integrationPages,
  apiPages,
  sessionsPages,
  usagePages,
  profilePages,
  secondFactorPages,
  confirmByPasskeyPages,
  accountListPages,
  severalAccountsPages,
  newAccountPages,
  importPages,
  accountPages,
  adminPages,
]

/** The portal, independent of the HTTP server: it answers everything at and below its path, whatever the method. */
export interface Portal {
  readonly path: string
  /** Where people change their password; undefined = nobody has one. */
  readonly passwordPage: string | undefined
  readonly pages: readonly RegisteredPage[]
  /**
   * Decides everything that can be decided before a byte of the body is read. `admitAgain` is to be called once it has
   * been read.
   * @returns the response, if it is already decided
   * @throws GatehouseError
   */
  admit(registered: RegisteredPage, request: PortalRequest): Promise<PortalResponse | undefined>
  admitAgain(registered: RegisteredPage, request: PortalRequest): Promise<PortalResponse | undefined>
  /** Answers an admitted request, with its body. @throws GatehouseError */
  answer(registered: RegisteredPage, request: PortalRequest): Promise<PortalResponse>
  /** @param registered undefined = there is no such page */
  answerError(
    error: GatehouseError,
    request: PortalRequest,
    registered: RegisteredPage | undefined,
  ): PortalResponse
  /** @throws GatehouseError `route-not-found`, `method-not-allowed` */
  answerAsset(request: PortalRequest): PortalResponse
}

export function createPortal(options: PortalOptions): Portal {
  const { path: base, cookies } = options
  const parts: PortalParts = {
    options,
    assets: readAssets(base, options.branding),
    notices: createFlashNotices(cookies),
    scopedRoutes: scopedRoutesOf(options.routes),
  }
  const admit = createPortalGate(parts)
  const pages = pageFactories.flatMap((make) => make(options))

  async function answer(registered: RegisteredPage, request: PortalRequest): Promise<PortalResponse> {
    const formPagePath = isPost(request) ? base + resolveFormPagePath(request, registered) : undefined
    const context = createPageContext(parts, { request, formPagePath })
    return toAnswer(parts, request, await handlePage(registered, context, options))
  }

  return {
    path: base,
    passwordPage: options.oidc?.acceptsPasswords === false ? undefined : `${base}/profile`,
    pages: pages.map((page) => ({ page, formPagePattern: formPagePatternOf(page.path, pages) })),
    admit,
    // During the upload of the form the viewer may have been signed out, or lost the role Admin.
    admitAgain: async (registered, request) =>
      isPost(request) && request.viewer ? admit(registered, request) : undefined,
    answer,
    answerError: (error, request, registered) => answerError(parts, error, { request, registered }),
    answerAsset: (request) => answerAsset(parts.assets, request),
  }
}

/** The routes that keys with scopes may call, with the scopes that each asks for. */
function scopedRoutesOf(routes: readonly RouteOptions[]): readonly ScopedRoute[] {
  return routes.flatMap(({ scopes = [], auth, methods, host, path }) => {
    if (scopes.length === 0 || auth === 'none' || auth === 'deny') return []
    return [{ scopes, text: `${methods ? `${methods.join(', ')} ` : ''}${host ?? ''}${path}` }]
  })
}

function toAnswer(
  { options, notices }: PortalParts,
  request: PortalRequest,
  result: PageResult,
): PortalResponse {
  switch (result.kind) {
    case 'page':
      return answerPage(result)
    case 'redirect':
      if (result.notice) notices.set(request, result.notice)
      return answerRedirect(options.path + result.to)
    case 'leave':
      return answerRedirect(result.url)
    case 'continue':
      return answerContinue(result.url, languageOf(request, request.viewer))
    case 'data':
      return answerData(result.data)
    case 'file':
      return result
    default:
      return result satisfies never
  }
}

async function handlePage(
  registered: RegisteredPage,
  context: PageContext,
  options: PortalOptions,
): Promise<PageResult> {
  const { request, viewer } = context
  const { page } = registered
  if (isPost(request) && !hasValidCsrfToken(page, context, options)) {
    if (isFromEarlierSession(context))
      return redirectTo(resolveFormPagePath(request, registered), 'signed-in-again')
    const cause = new Error('CSRF token does not match the session cookie')
    throw new GatehouseError('cross-site-request', { cause })
  }
  if (isPublic(page)) {
    if (isPost(request)) return submitForm(page, context)
    return page.get?.(context) ?? throwNotFound()
  }
  if (!viewer) throw new GatehouseError('credentials-missing')
  const signedIn = toSignedInContext(context, viewer, options)
  if (!isPost(request)) return page.get?.(signedIn) ?? throwNotFound()
  // After the CSRF check, as forged requests must not use up the limit.
  await takePortalAction(options.limiter, viewer.account.id)
  return submitForm(page, signedIn, page.asksPassword ? () => confirmPassword(signedIn, options) : undefined)
}

/** @param check runs before the form is processed, and rejects if it must not be */
async function submitForm<Context>(
  { post = throwNotFound, refused }: Partial<Pick<FormHandlers<Context>, 'post' | 'refused'>>,
  context: Context,
  check?: () => Promise<void>,
): Promise<PageResult> {
  try {
    await check?.()
    return await post(context)
  } catch (error) {
    if (!refused) throw error
    return refused(context, error)
  }
}

function hasValidCsrfToken(
  page: PortalPage,
  { request, viewer, form }: PageContext,
  { cookies }: PortalOptions,
): boolean {
  const given = form(csrfField)
  const sessionToken = viewer ? cookies.readSession(request) : undefined
  if (isCsrfTokenOf(sessionToken, given)) return true
  // If the viewer has signed in in another tab, a sign-in form in this one still has the token of the form cookie.
  return isPublic(page) && isCsrfTokenOf(cookies.readFormToken(request), given)
}

/**
 * Whether the viewer signed in again in another tab, while this one still has an older page. The browser reports the
 * same origin; the form is refused nevertheless, as a page of a backend could have sent it.
 */
function isFromEarlierSession({ request, viewer, form }: PageContext): boolean {
  const isSameOrigin = request.headers['sec-fetch-site'] === 'same-origin'
  return viewer !== undefined && isSameOrigin && acceptsHtml(request) && looksLikeCsrfToken(form(csrfField))
}

/** @throws GatehouseError `route-not-found` */
export function throwNotFound(): never {
  throw new GatehouseError('route-not-found')
}
