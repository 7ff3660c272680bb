import type { IncomingHttpHeaders } from 'node:http'
import Negotiator from 'negotiator'
import type { Arrival } from '#gateway/arrival/arrival.ts'
import type { EndpointExchange } from '#gateway/arrival/endpoint-arrival.ts'
import { namesHtml } from '#gateway/refusals/problem-text.ts'
import type { Viewer } from '#identity/tokens/issued-tokens.ts'
import { isLanguage, type Language } from '#platform/languages.ts'
import type { Visitor } from '#store/sessions.ts'
import { languages } from './texts/texts.ts'

/** A request to the portal, and the cookies of its response: everything that pages know of the HTTP server. */
export interface PortalRequest {
  /** The request as the HTTP server knows it, with its logged outcome. */
  readonly arrival: Arrival<EndpointExchange>
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly cookies: CookieJar
  readonly visitor: Visitor
  /** Who is signed in; set by the gate. */
  viewer: Viewer | undefined
  /** A field of the form; undefined if there is none, and until the body has been read. */
  field(name: string): string | Buffer | undefined
  /** A parameter of the path, such as an ID; empty if there is none. */
  param(name: string): string
}

/** The part of a request that is checked first: method and origin. */
export type PortalHead = Pick<PortalRequest, 'method' | 'headers'>

export function isPost({ method }: Pick<PortalRequest, 'method'>): boolean {
  return method === 'POST'
}

export function isPageNavigation(request: PortalHead): boolean {
  return (request.method === 'GET' || request.method === 'HEAD') && acceptsHtml(request)
}

/** Whether HTML is wanted, as by a browser, rather than data, as by the script. */
export function acceptsHtml({ headers }: Pick<PortalRequest, 'headers'>): boolean {
  return headers.accept !== undefined && namesHtml(headers.accept)
}

/** Fields of a form by name; files are bytes. */
export type FormFields = ReadonlyMap<string, string | Buffer>

interface CookieJar {
  /** A cookie of the request; undefined where there is none, or several of this name with different values. */
  get(name: string): string | undefined
  set(name: string, value: string, attributes: CookieAttributes): void
}

export interface CookieAttributes {
  readonly path: string
  readonly httpOnly: boolean
  readonly secure: boolean
  readonly sameSite: 'strict' | 'lax' | 'none'
  /** In seconds; default: until the browser is closed. */
  readonly maxAge?: number
  readonly expires?: Date
}

/** The language that the viewer has chosen; else that which the browser prefers (Accept-Language, RFC 9110 12.5.4). */
export function languageOf(
  { headers }: Pick<PortalRequest, 'headers'>,
  viewer: Viewer | undefined,
): Language {
  const chosen = viewer?.account.portal.language
  if (isLanguage(chosen)) return chosen
  const preferred = new Negotiator({ headers }).language(languages.map(({ tag }) => tag))
  return isLanguage(preferred) ? preferred : 'en'
}
