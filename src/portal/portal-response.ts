import type { FileDownload } from '#accounts/csv.ts'
import { continueQueryLengthMax, returnPathLengthMax } from '#gateway/browser/sign-in-return.ts'
import type { Language } from '#platform/languages.ts'
import { type Html, html } from '#platform/pages/html.ts'
import type { NoticeName } from './forms/flash-notices.ts'
import { pageAccessAt } from './page-access.ts'
import { translationOf } from './texts/texts.ts'

/** What the handler of a page returns; portal.ts makes the HTTP response of it. */
export type PageResult =
  | PageResponse
  /** Redirects to another page of the portal, by GET (RFC 9110 15.4.4); `to` is below the portal. */
  | { readonly kind: 'redirect'; readonly to: string; readonly notice?: NoticeName | undefined }
  /** Redirects out of the portal, after a GET: to another site, or to a page of a route. */
  | { readonly kind: 'leave'; readonly url: string }
  /** A page that continues to a URL by itself: see `continueTo`. */
  | { readonly kind: 'continue'; readonly url: string }
  | { readonly kind: 'data'; readonly data: unknown }
  | { readonly kind: 'file'; readonly file: FileDownload }

export interface PageResponse {
  readonly kind: 'page'
  /** The nonce of its style and script. */
  readonly nonce: string
  readonly hasImages: boolean
  readonly html: Html
  readonly status: number
  readonly headers: Headers
}

type Headers = Readonly<Record<string, string | string[]>>

export function redirectTo(to: string, notice?: NoticeName): PageResult {
  return { kind: 'redirect', to, notice }
}

/** Enough for `/continue`, whose query has the page that a visit returns to. */
const nextLengthMax = returnPathLengthMax + continueQueryLengthMax

/**
 * The path if it is a page of the portal, else empty. Browsers resolve dot segments, even encoded ones, which could
 * lead out of the portal.
 */
export function safeRedirectPath(next: string): string {
  const [path = ''] = next.split('?', 1)
  if (!/^\/[\w/?=&%.~+-]*$/.test(next) || next.length > nextLengthMax) return ''
  if (/\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path)) return ''
  return pageAccessAt(path)?.methods.includes('GET') ? next : ''
}

export function leaveTo(url: string): PageResult {
  return { kind: 'leave', url }
}

/**
 * Continues to a URL by a page of the portal, not by a redirect. After a navigation that another site began, browsers
 * send `SameSite=Strict` cookies only if a page in between continues; and after a form they follow no redirect to
 * another site (`form-action`).
 */
export function continueTo(url: string): PageResult {
  return { kind: 'continue', url }
}

/** Headers of every response of the portal: it must not be cached or framed, and sends no Referer. */
export const securityHeaders: Headers = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy':
    'accelerometer=(), camera=(), clipboard-write=(self), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), payment=(), usb=()',
}

type ContentResponse = Extract<PortalResponse, { readonly kind: 'content' }>

export type PortalResponse =
  | {
      readonly kind: 'content'
      readonly status: number
      readonly headers: Headers
      readonly body: string | Buffer | undefined
    }
  | { readonly kind: 'file'; readonly file: FileDownload }

export function answerPage({ html: page, nonce, hasImages, status, headers }: PageResponse): ContentResponse {
  return {
    kind: 'content',
    status,
    headers: {
      ...headers,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': contentSecurityPolicy(nonce, hasImages),
    },
    body: page.text,
  }
}

export function answerRedirect(location: string): PortalResponse {
  return { kind: 'content', status: 303, headers: { Location: location }, body: undefined }
}

/** The page of `continueTo`. */
export function answerContinue(url: string, language: Language): ContentResponse {
  const text = translationOf(language).texts.errors.continue
  const page = html`<!doctype html><html lang="${language}"><meta charset="utf-8"><title>${text}</title><meta http-equiv="refresh" content="0;url=${url}"><a href="${url}">${text}</a>`
  return answerPage({ kind: 'page', html: page, nonce: 'none', hasImages: false, status: 200, headers: {} })
}

export function answerData(data: unknown): PortalResponse {
  const headers = { 'Content-Type': 'application/json; charset=utf-8' }
  return { kind: 'content', status: 200, headers, body: JSON.stringify(data) }
}

/**
 * Allows only style and script with the nonce of this response, as other paths of the same origin belong to backends,
 * whose files must not run here.
 */
function contentSecurityPolicy(nonce: string, hasImages: boolean): string {
  return [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    hasImages ? "img-src 'self' data:" : 'img-src data:',
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')
}
