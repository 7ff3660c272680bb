import type { FileDownload } from '../accounts/audit-log.ts'
import type { Html } from '../pages/html.ts'
import type { NoticeName } from './flash-notices.ts'

/** The response of a portal page. */
export type PortalResponse =
  | PageResponse
  /** Redirects to another page of the portal, by GET (RFC 9110 15.4.4); `to` is below the portal. */
  | { readonly kind: 'redirect'; readonly to: string; readonly notice?: NoticeName | undefined }
  | { readonly kind: 'data'; readonly data: unknown }
  | { readonly kind: 'file'; readonly file: FileDownload }

export interface PageResponse {
  readonly kind: 'page'
  /** The nonce of its style and script. */
  readonly nonce: string
  readonly html: Html
  readonly status: number
  readonly headers: Headers
}

type Headers = Readonly<Record<string, string | string[]>>

export function redirectTo(to: string, notice?: NoticeName): PortalResponse {
  return { kind: 'redirect', to, notice }
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

/** The HTTP response. */
export type PortalAnswer =
  | {
      readonly kind: 'content'
      readonly status: number
      readonly headers: Headers
      readonly body: string | Buffer | undefined
    }
  | { readonly kind: 'file'; readonly file: FileDownload }

export function answerPage({ html, nonce, status, headers }: PageResponse): PortalAnswer {
  return {
    kind: 'content',
    status,
    headers: {
      ...headers,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': contentSecurityPolicy(nonce),
    },
    body: html.text,
  }
}

/** Redirects by GET. */
export function answerRedirect(location: string): PortalAnswer {
  return { kind: 'content', status: 303, headers: { Location: location }, body: undefined }
}

export function answerData(data: unknown): PortalAnswer {
  const headers = { 'Content-Type': 'application/json; charset=utf-8' }
  return { kind: 'content', status: 200, headers, body: JSON.stringify(data) }
}

/**
 * Allows only style and script with the nonce of this response: other paths of the same origin belong to backends,
 * whose files must not run here.
 */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    'img-src data:',
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')
}
