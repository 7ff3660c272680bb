import { recordFailure } from '#gateway/arrival/outcome.ts'
import { GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import type { Account } from '#store/accounts.ts'
import { asFieldError } from './forms/refusal.ts'
import { audienceOf, type PageAudience, type PageMethods, type PathsOf } from './page-access.ts'
import type { PageContext, PortalOptions, SignedInContext } from './page-context.ts'
import { linkedProviders } from './portal-oidc.ts'
import type { PortalRequest } from './portal-request.ts'
import type { PageResult } from './portal-response.ts'
import { labelsOf } from './views/frame.ts'

/** The handlers of one portal path, for the methods of its entry in page-access.ts; signed-in pages get the viewer. */
export type PortalPage = PublicPage | SignedInPage

type PublicPage = PageOf<'anyone', PageContext>
type SignedInPage = PageOf<'viewer' | 'admin', SignedInContext>

type PageOf<Audience extends PageAudience, Context> = {
  readonly [Methods in PageMethods]: {
    /** The path below the portal. */
    readonly path: PathsOf<Audience, Methods>
  } & Handlers<Context>[Methods]
}[PageMethods]

type Handler<Context> = (context: Context) => Promise<PageResult>

interface Handlers<Context> {
  readonly GET: { readonly get: Handler<Context> } & NoForm
  readonly POST: { readonly get?: never } & FormHandlers<Context>
  readonly 'GET, POST': { readonly get: Handler<Context> } & FormHandlers<Context>
}

type NoForm = { readonly [Member in keyof FormHandlers<never>]?: never }

/** GET shows a page, POST checks its form and acts; a refused form is shown again. */
export interface FormHandlers<Context> {
  /** Largest form, in bytes. Default: 64 KiB. */
  readonly bytesMax?: number
  /** Whether the form asks for the viewer's password again, which is then checked first. Default: false. */
  readonly asksPassword?: boolean
  readonly post: Handler<Context>
  /**
   * Shows a form that was refused; default: the error page.
   * @throws every error that is not about the form
   */
  readonly refused?: (context: Context, error: unknown) => PageResult | Promise<PageResult>
}

export function isPublic(page: PortalPage): page is PublicPage {
  return audienceOf(page.path) === 'anyone'
}

/** Creates the pages of one part of the portal. */
export type CreatePages = (options: PortalOptions) => readonly PortalPage[]

/** A page, and where its form is. */
export interface RegisteredPage {
  readonly page: PortalPage
  /** The pattern of the path, below the portal, of the page with the form: this page if it has a GET. */
  readonly formPagePattern: string
}

/** The pattern of the nearest page with a GET: this one, or one above it. The start of the portal has one. */
export function formPagePatternOf(path: string, pages: readonly PortalPage[]): string {
  const hasGet = path === '' || pages.some((page) => page.path === path && page.get)
  return hasGet ? path : formPagePatternOf(path.slice(0, path.lastIndexOf('/')), pages)
}

/** Where to redirect after a form, below the portal: the page with the form, for the same account. */
export function resolveFormPagePath(request: PortalRequest, { formPagePattern }: RegisteredPage): string {
  return formPagePattern.replace(':id', encodeURIComponent(request.param('id')))
}

/** Reads a query parameter; the first value of a repeated one counts. */
export function queryOf({ request }: PageContext): (name: string) => string {
  const query = new URLSearchParams(request.url.split('?')[1] ?? '')
  return (name) => query.get(name) ?? ''
}

/**
 * The account that the path names.
 * @throws GatehouseError `account-not-found`, for an e-mail too, which must not be in a URL
 */
export async function accountOf({ actions, request }: SignedInContext): Promise<Account> {
  const id = request.param('id')
  if (id.includes('@')) throw new GatehouseError('account-not-found')
  return actions.accounts.get(id)
}

/**
 * Checks the password that the form asks for again, unless the viewer has just authenticated again at the
 * provider, or with a passkey.
 * @throws GatehouseError `request-invalid` (field `password`) if it is wrong, `too-many-failures`
 */
export async function confirmPassword(
  { viewer, visitor, form, request, texts, locale }: SignedInContext,
  { signIn, oidc, passkeys }: Pick<PortalOptions, 'signIn' | 'oidc' | 'passkeys'>,
): Promise<void> {
  if (passkeys?.isConfirmed(request, viewer)) return
  if (oidc?.sessions.isConfirmed(request, viewer.session)) return
  const linked = oidc ? linkedProviders(oidc, viewer) : []
  if (oidc && linked.length > 0 && (viewer.account.portal.password === undefined || !oidc.acceptsPasswords))
    throw invalidField('password', texts.errors.firstConfirm(labelsOf(linked, locale)))
  try {
    await signIn.confirm(viewer, form('password'), visitor)
  } catch (error) {
    if (error instanceof GatehouseError) recordFailure(request.arrival.outcome, error)
    throw asFieldError(error, 'password', texts.errors.wrongPassword)
  }
}
