import type { SchemeName } from '#identity/access.ts'
import type { ResponseCaching } from './route.ts'

/** Where a secret key may come: names of header fields, and `Authorization` by either scheme. */
export interface KeyFields {
  readonly headers: readonly string[]
  readonly bearer: boolean
  readonly basic: boolean
}

/** By what the callers of a route authenticate, and whether they have to. */
export interface AcceptedCredentials {
  readonly schemes: readonly SchemeName[]
  readonly isOptional: boolean
  /** Whether the Authorization field is the backend's. */
  readonly leavesAuthorization: boolean
}

/**
 * A cache keys by the URL alone (RFC 9111 2), and knows of credentials only those in `Authorization` (3.5): without
 * `Vary` it would serve what one caller got to the next.
 * @param takesCookie whether the access cookie authenticates too, by the site that the request comes from
 */
export function compileCaching(
  { schemes, isOptional, leavesAuthorization }: AcceptedCredentials,
  { headers, bearer, basic }: KeyFields,
  takesCookie: boolean,
): ResponseCaching {
  const takesKeys = schemes.includes('secretKey')
  const takesAuthorization = schemes.includes('bearer') || (takesKeys && (bearer || basic))
  const names = [
    ...(takesKeys ? headers : []),
    // On an optional route one of another scheme is the backend's.
    ...(takesAuthorization || isOptional || leavesAuthorization ? ['Authorization'] : []),
    ...(takesCookie ? ['Cookie', 'Origin', 'Sec-Fetch-Site'] : []),
  ]
  const varyLine = `Vary: ${names.join(', ')}\r\n`
  return { names, varyLine, privateLines: `${varyLine}Cache-Control: private\r\n` }
}
