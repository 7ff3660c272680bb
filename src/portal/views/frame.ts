import type { QuotaUnit } from '#identity/limits/plans.ts'
import type { Language, Locale } from '#platform/languages.ts'
import type { PageMoment } from '#platform/pages/format.ts'
import type { NoticeKind } from '#platform/pages/html.ts'
import { listText } from '#platform/text.ts'
import type { Texts } from '../texts/texts.ts'

/** What every page's layout needs. */
export interface PageFrame extends PageMoment {
  /** The path of the portal, such as `/portal`. */
  readonly base: string
  readonly brand: string
  readonly assets: {
    readonly style: string
    readonly scripts: Readonly<Record<Language, string>>
    readonly logo: string | undefined
  }
  /** The nonce of this response, for its Content-Security-Policy. */
  readonly nonce: string
  readonly language: Language
  readonly texts: Texts
  readonly csrfToken: string
  /** The viewer; undefined = nobody is signed in. */
  readonly viewer: PageViewer | undefined
  /** Roles to suggest: the built-in ones and those that routes name. */
  readonly roles: readonly string[]
  readonly canMailLinks: boolean
  /** Whether browsers that are signed in have token sessions too. */
  readonly hasAccessCookie: boolean
  /** The names of the plans in the config. */
  readonly plans: readonly string[]
  readonly scopedRoutes: readonly ScopedRoute[]
  readonly quotaUnit: QuotaUnit
  /** The names of the foreign issuers in the config. */
  readonly issuers: readonly string[]
  /** Shown above the page. */
  readonly notice: PageNotice | undefined
  /** In the response to a form, the path of the page with that form. Default: this is no response to a form. */
  readonly formPagePath?: string | undefined
  /** Where people sign in besides, or instead of, passwords; undefined = by password only. */
  readonly oidc?: FrameOidc | undefined
  /** undefined = passkeys cannot be used here. */
  readonly passkeys?: FramePasskeys | undefined
}

/** Passkeys, and what the viewer can do with them. */
export interface FramePasskeys {
  /** The only origin at which they work. */
  readonly origin: string
  /** Whether the viewer has one. */
  readonly canConfirm: boolean
  /** Whether the viewer has used one just now. */
  readonly isConfirmed: boolean
  /** The page, below the portal. */
  readonly path: string
}

/** A route that asks for scopes; `text` is such as `GET, POST /orders`. */
export interface ScopedRoute {
  readonly scopes: readonly string[]
  readonly text: string
}

export interface FrameProvider {
  readonly name: string | undefined
  readonly label: string
}

/** The OpenID providers, and what the viewer can do there. */
export interface FrameOidc {
  /** At least one. */
  readonly providers: readonly FrameProvider[]
  readonly acceptsPasswords: boolean
  /** Those at which the viewer is known, and can authenticate again. */
  readonly linked: readonly FrameProvider[]
  /** Whether the viewer has a password that is accepted. */
  readonly hasPassword: boolean
  /** Whether the viewer has authenticated again just now. */
  readonly isConfirmed: boolean
  /** The page, below the portal. */
  readonly path: string
}

/** Such as `Example ID or Google`. @param locale default: English */
export function labelsOf(providers: readonly FrameProvider[], locale?: Locale): string {
  return listText(
    providers.map(({ label }) => label),
    locale,
  )
}

/** The query of a link that leads to a provider. @param next where to go afterwards; empty = the start of the portal */
export function providerQuery({ name }: FrameProvider, next: string): string {
  const members = { ...(name !== undefined && { provider: name }), ...(next !== '' && { next }) }
  const query = new URLSearchParams(members).toString()
  return query === '' ? '' : `?${query}`
}

export interface PageViewer {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly isAdmin: boolean
}

export interface PageNotice {
  readonly kind: NoticeKind
  readonly text: string
}

/** The submitted values of a form and its errors. Never holds a password. */
export interface FormState {
  readonly values: Readonly<Record<string, string>>
  /** Errors by field name. */
  readonly errors: Readonly<Record<string, string>>
  /** The error of the whole form. */
  readonly message: string | undefined
}

/** The form that was refused, on a page with several. */
export interface RefusedForm<Name extends string> {
  readonly form: Name
  readonly state: FormState
}

/** The state of one form of a page: that of the refused form if this is the one, otherwise empty. */
export function stateOf<Name extends string>(refused: RefusedForm<Name> | undefined, form: Name): FormState {
  return refused?.form === form ? refused.state : emptyForm
}

export const emptyForm: FormState = { values: {}, errors: {}, message: undefined }
