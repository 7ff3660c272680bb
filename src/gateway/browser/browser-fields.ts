import { lengthsOf, type RequestHead, valuesOf } from '#http/request-head.ts'
import {
  ambiguousCredentials,
  type Credentials,
  cookieCredential,
  noCredentials,
} from '#identity/credentials.ts'

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

type ReadBrowserFields = (head: Pick<RequestHead, 'rawHeaders'>) => BrowserFields

const fieldLengths = lengthsOf(['cookie', 'origin', 'sec-fetch-site', 'sec-websocket-key'])

/** @param cookieName of the access cookie: case counts, as in browsers; undefined = it is not looked for */
export function createBrowserFieldReader(cookieName: string | undefined): ReadBrowserFields {
  function readFields({ rawHeaders }: Pick<RequestHead, 'rawHeaders'>): BrowserFields {
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
      credentials = credentials.kind === 'none' ? cookieCredential(token) : ambiguousCredentials
    }
    return credentials
  }

  return readFields
}

/** RFC 9110 9.2.1, of the methods that browsers send. */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Whether a request of a page may change something, or opens a WebSocket. */
export function isUnsafeRequest(
  { method, upgrade }: Pick<RequestHead, 'method' | 'upgrade'>,
  { isWebSocket }: Pick<BrowserFields, 'isWebSocket'>,
): boolean {
  return !safeMethods.has(method) || upgrade !== undefined || isWebSocket
}

/**
 * The values of all cookies of this name, in their order, without the white space around them. Nothing is decoded, and
 * quotes are kept, as the gateway's cookies need neither. Case counts, as in browsers (RFC 6265 4.1.1).
 * @param header of one Cookie field
 */
function cookieValues(header: string, name: string): readonly string[] {
  const values: string[] = []
  for (const pair of header.split(';')) {
    const end = pair.indexOf('=')
    if (end !== -1 && pair.slice(0, end).trim() === name) values.push(pair.slice(end + 1).trim())
  }
  return values
}

/**
 * The values of all cookies of this name in all Cookie fields of a head.
 * @param rawHeaders name, value, name, value, as they arrived
 */
export function cookieValuesIn(rawHeaders: readonly string[], name: string): readonly string[] {
  return valuesOf(rawHeaders, 'cookie').flatMap((header) => cookieValues(header, name))
}

/** More than one cookie has the name: another host of the domain may have set one of them. */
export const ambiguousCookie = Symbol('ambiguous cookie')

/** The value of the cookies of this name; empty ones do not count. */
export function onlyCookieIn(
  rawHeaders: readonly string[],
  name: string,
): string | typeof ambiguousCookie | undefined {
  const [value, ...others] = cookieValuesIn(rawHeaders, name).filter((each) => each !== '')
  return others.every((other) => other === value) ? value : ambiguousCookie
}
