import type { NoticeKind } from '../pages/notice.ts'

/** What every page is made with, whatever it shows. */
export interface Frame {
  /** Where the portal is, such as `/portal`. */
  readonly base: string
  readonly assets: { readonly style: string; readonly script: string }
  /** Of this one answer, for its Content-Security-Policy. */
  readonly nonce: string
  /** Milliseconds since 1970. */
  readonly now: number
  /** What a form must carry. */
  readonly csrf: string
  /** Who is signed in; undefined = nobody. */
  readonly viewer: PageViewer | undefined
  /** Said above the page. */
  readonly notice: PageNotice | undefined
  /** Path of the page that the form stands on which this answers. Default: it answers none. */
  readonly home?: string | undefined
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
  /** By the name of the field. */
  readonly errors: Readonly<Record<string, string>>
  /** What is wrong with all of it. */
  readonly message: string | undefined
}

export const emptyForm: FormState = { values: {}, errors: {}, message: undefined }
