import { hash } from 'node:crypto'
import { type RequestHead, valuesOf } from '#http/request-head.ts'
import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { errorDocument, errorPageStyle } from '#platform/pages/error-document.ts'

/** What the error page needs besides the error. */
interface ErrorPageOptions {
  readonly requestId: string
  /** The path of the portal; undefined = there is none. */
  readonly portalPath: string | undefined
}

/** A response in HTML. */
interface ErrorPage {
  /** Field lines. */
  readonly lines: string
  /** ASCII, so that one character is one byte. */
  readonly body: string
}

/**
 * Whether the client is a person in a browser: a GET whose Accept names HTML, as sent for address bars and links.
 * Programs get problem+json, even if they accept anything.
 */
export function prefersHtml({ method, rawHeaders }: RequestHead): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  return valuesOf(rawHeaders, 'accept').some(namesHtml)
}

/** Whether an Accept names HTML, with a weight above 0 (RFC 9110 12.5.1). */
export function namesHtml(accept: string): boolean {
  return accept.split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === 'text/html' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })
}

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', errorPageStyle, 'base64')}'`,
  'img-src data:',
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

const fixedLines = [
  'Content-Type: text/html; charset=utf-8',
  'Cache-Control: no-store',
  `Content-Security-Policy: ${policy}`,
  'Referrer-Policy: no-referrer',
  'X-Content-Type-Options: nosniff',
]

/** Renders an error as a page, with the fields that it needs. */
export function renderErrorPage(
  error: GatehouseError,
  { requestId, portalPath }: ErrorPageOptions,
): ErrorPage {
  const { status, title, detail, code } = error
  const link = portalPath === undefined ? undefined : { href: portalPath, text: 'Go to the portal' }
  const page = errorDocument({ status, title, detail, code, requestId, link }).text
  return {
    lines: [...fixedLines, `X-Request-Id: ${requestId}`].map((line) => `${line}\r\n`).join(''),
    body: page.replaceAll(/[^\n -~]/gu, (character) => `&#${character.codePointAt(0)};`),
  }
}
