import type { RequestHead } from '#http/exchange/request-head.ts'
import { lengthsOf } from '#http/h1/raw-headers.ts'
import {
  type Credentials,
  cookieCredential,
  noCredentials,
  withRepeatedCookie,
} from '#identity/credentials.ts'
import { cookieValues } from './cookie-values.ts'

/** What the head of a request says about the page behind it, and the access cookie. */
export interface BrowserFields {
  /** The access cookie; `ambiguous` where several cookies have its name. */
  readonly credentials: Credentials
  /** Sec-Fetch-Site; `ambiguous` where it was sent twice; undefined = the browser does not say. */
  readonly site: string | undefined
  /** Origin; `null` where it was sent twice. */
  readonly origin: string | undefined
  /** Whether it is the handshake of a WebSocket: a proxy may have taken the `Upgrade` off. */
  readonly isWebSocket: boolean
}

export type ReadBrowserFields = (head: Pick<RequestHead, 'rawHeaders'>) => BrowserFields

const fieldLengths = lengthsOf(['cookie', 'origin', 'sec-fetch-site', 'sec-websocket-key'])

/** @param cookieName of the access cookie: case counts, as in browsers; undefined = it is not looked for */
export function createBrowserFieldReader(cookieName: string | undefined): ReadBrowserFields {
  function readFields(rawHeaders: readonly string[]): BrowserFields {
    let credentials: Credentials = noCredentials
    let site: string | undefined
    let origin: string | undefined
    let isWebSocket = false
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      const name = rawHeaders[index] ?? ''
      if (fieldLengths[name.length] !== 1) continue
      const value = rawHeaders[index + 1] ?? ''
      switch (name.toLowerCase()) {
        case 'cookie':
          credentials = withCookies(credentials, value)
          break
        case 'sec-fetch-site':
          site = site === undefined ? value : 'ambiguous'
          break
        case 'origin':
          origin = origin === undefined ? value : 'null'
          break
        case 'sec-websocket-key':
          isWebSocket = true
          break
        default:
      }
    }
    return { credentials, site, origin, isWebSocket }
  }

  /**
   * Another host of the same domain, or a page of another path, can set a cookie of this name beside ours (cookie
   * tossing): nobody can tell which is which.
   */
  function withCookies(before: Credentials, header: string): Credentials {
    if (cookieName === undefined || !header.includes(cookieName)) return before
    let credentials = before
    for (const token of cookieValues(header, cookieName)) {
      if (token === '') continue
      credentials = credentials.kind === 'none' ? cookieCredential(token) : withRepeatedCookie()
    }
    return credentials
  }

  return ({ rawHeaders }) => readFields(rawHeaders)
}
