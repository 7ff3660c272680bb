import type { NoticeKind } from '../../pages/notice.ts'

/** What every page needs, whatever it shows. */
export interface PageFrame {
  /** The path of the portal, such as `/portal`. */
  readonly base: string
  readonly assets: { readonly style: string; readonly script: string }
  /** The nonce of this answer, for its Content-Security-Policy. */
  readonly nonce: string
  /** Milliseconds since 1970. */
  readonly now: number
  /** The CSRF token for forms. */
  readonly csrfToken: string
  /** Who is signed in; undefined = nobody. */
  readonly viewer: PageViewer | undefined
  /** Roles to offer: those of the gateway and those that routes name. */
  readonly roles: readonly string[]
  /** Shown above the page. */
  readonly notice: PageNotice | undefined
  /** Path of the page with the form that this page answers. Default: it answers no form. */
  readonly formPagePath?: string | undefined
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

/** What was typed into a form, and what is wrong with it. Never holds a password. */
export interface FormState {
  readonly values: Readonly<Record<string, string>>
  /** Errors by the name of the field. */
  readonly errors: Readonly<Record<string, string>>
  /** What is wrong with the whole form. */
  readonly message: string | undefined
}

export const emptyForm: FormState = { values: {}, errors: {}, message: undefined }
