import { lengthsOf, withoutFields } from '#http/request-head.ts'
import type { SchemeName } from '#identity/access.ts'
import type { Carriers } from '#identity/carriers.ts'

/** Where a secret key may come. */
export type KeyCarriers = Pick<Carriers, 'headers' | 'bearer' | 'basic'>

/** What caches are told about responses of a route that authenticates its callers. */
export interface ResponseCaching {
  /** The request fields that identify the caller, as `Vary` lists them. */
  readonly names: readonly string[]
  /** `Vary` with these names, ended by CR LF. */
  readonly varyLine: string
  /** The same with Origin before these names, for a response that depends on it. */
  readonly originVaryLine: string
}

/** Says that no shared cache may store a response to an authenticated caller. */
export const privateLine = 'Cache-Control: private\r\n'

/** Which credentials a route's callers authenticate with, and whether they have to. */
export interface AcceptedCredentials {
  readonly schemes: readonly SchemeName[]
  readonly isOptional: boolean
  /** Whether the Authorization field belongs to the backend. */
  readonly leavesAuthorization: boolean
}

/**
 * A cache uses the URL alone as key (RFC 9111 2), and of all credentials heeds only those in `Authorization` (3.5):
 * without `Vary` it would serve one caller's response to the next.
 * @param takesCookie whether the access cookie authenticates too, depending on the site that the request comes from
 */
export function compileCaching(
  { schemes, isOptional, leavesAuthorization }: AcceptedCredentials,
  { headers, bearer, basic }: KeyCarriers,
  takesCookie: boolean,
): ResponseCaching {
  const takesKeys = schemes.includes('secretKey')
  const takesAuthorization = schemes.includes('bearer') || (takesKeys && (bearer || basic))
  const names = [
    ...(takesKeys ? headers : []),
    // On an optional route, an Authorization of another scheme is for the backend.
    ...(takesAuthorization || isOptional || leavesAuthorization ? ['Authorization'] : []),
    ...(takesCookie ? ['Cookie', 'Origin', 'Sec-Fetch-Site'] : []),
  ]
  return {
    names,
    varyLine: `Vary: ${names.join(', ')}\r\n`,
    originVaryLine: `Vary: ${mergedVary('Origin', names)}\r\n`,
  }
}

/** A backend that sends one of these has itself said who may store its response, and for how long. */
const statements = new Set(['cache-control', 'expires', 'pragma'])

/** The lengths of the names that `CachingLines.take` handles. */
export const cachingLengths: Uint8Array = lengthsOf(['vary', ...statements])

/** Collects what the backend says about caching one response, and writes what caches are told. */
export class CachingLines {
  readonly #caching: ResponseCaching
  #vary = ''
  #isStated = false

  constructor(caching: ResponseCaching) {
    this.#caching = caching
  }

  /**
   * @param lower name of a field, in lower case
   * @returns whether it was taken: then its line is not forwarded, as `lines` says the same
   */
  take(lower: string, value: string): boolean {
    if (lower === 'vary') {
      if (value.trim() !== '') this.#vary = this.#vary === '' ? value : `${this.#vary}, ${value}`
      return true
    }
    this.#isStated ||= statements.has(lower)
    return false
  }

  /** The response varies by one more request field. */
  addVary(name: string): void {
    this.#vary = this.#vary === '' ? name : mergedVary(this.#vary, [name])
  }

  /** The field lines. @param isAuthenticated whether the response is one for this caller only */
  lines(isAuthenticated: boolean): string {
    const { names, varyLine } = this.#caching
    const line = this.#vary === '' ? varyLine : `Vary: ${mergedVary(this.#vary, names)}\r\n`
    return isAuthenticated && !this.#isStated ? line + privateLine : line
  }
}

/** The backend's names, then those that it lacks; `*` stands for all (RFC 9110 12.5.5). */
function mergedVary(vary: string, names: readonly string[]): string {
  const known = new Set(vary.split(',').map((name) => name.trim().toLowerCase()))
  if (known.has('*')) return '*'
  return [vary, ...names.filter((name) => !known.has(name.toLowerCase()))].join(', ')
}

/** What the client gets instead of fields of the backend's response. Plain data, as it is a part of the config. */
export interface ResponseHeaders {
  /** The fields that are set: name, value, name, value. */
  readonly set: readonly string[]
  /** Names of the fields that are set or removed, in lower case: those of the backend are dropped. */
  readonly replacedNames: ReadonlySet<string>
}

/** @returns undefined where nothing is set or removed */
export function createResponseHeaders(
  set: Readonly<Record<string, string>>,
  removedNames: readonly string[],
): ResponseHeaders | undefined {
  const names = [...Object.keys(set), ...removedNames]
  if (names.length === 0) return undefined
  return { set: Object.entries(set).flat(), replacedNames: new Set(names.map((name) => name.toLowerCase())) }
}

/** The fields of a backend less those that are set or removed. */
export function withoutReplaced(
  headers: readonly string[],
  rules: ResponseHeaders | undefined,
): readonly string[] {
  if (rules === undefined) return headers
  return withoutFields(headers, (name) => rules.replacedNames.has(name))
}
