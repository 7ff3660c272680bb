import { hasNameLengths, withoutPort } from './host-name.ts'
import { withoutParameters } from './normalized-paths.ts'

/** The path and query of a request, checked and ready for matching; the sent form is kept for forwarding. */
export interface RequestTarget {
  /** For matching: unreserved characters decoded (RFC 3986 6.2.2.2), escapes in upper case. */
  readonly path: string
  /** As it was sent. */
  readonly sentPath: string
  /** As it was sent, with its `?`; empty where there is no query. */
  readonly query: string
  /** Whether a segment of the path has parameters: `;` and what follows. */
  readonly hasParameters: boolean
  /** Whether the path holds %2F or %5C: the route decides whether it is allowed. */
  readonly hasEncodedSlash: boolean
}

// RFC 9110 4.2: only http and https, with a host, and without a user (4.2.4).
const absoluteForm = /^https?:\/\/([A-Za-z0-9\-._~!$&'()*+,;=:%[\]]+)(?=[/?#]|$)/i
const brokenEscape = /%(?![0-9A-Fa-f]{2})/
// Control characters, raw or encoded, in the path; raw ones in the query too.
const control = /[\u0000-\u0020\u007f]|%(?:[01][0-9A-Fa-f]|7[Ff])/
const rawControl = /[\u0000-\u0020\u007f]/
/** Escapes that are written differently: those in lower case, and of unreserved characters (RFC 3986 2.3). */
const changedEscape = /%(?:[0-9A-F][a-f]|[a-f][0-9A-Fa-f]|2[DE]|3[0-9]|[46][1-9A-F]|[57][0-9A]|5F|7E)/g
const unreserved = /[A-Za-z0-9\-._~]/
// A segment that is `.` or `..`, or that a server may treat as one: with parameters, or next to encoded slashes.
const dotSegment = /(?:^|[/\\])\.{1,2}(?:;[^/\\]*)?(?:[/\\]|$)/

/**
 * Reads a request target (RFC 9112 3.2) in origin form, or in absolute form, of which the path is used.
 * @param isPlain whether it is known to be a path that needs no look (see ParsedHead)
 * @returns undefined where servers could interpret the path differently: dot segments (encoded, with
 *   parameters, behind an encoded slash), a backslash, an empty segment (or one of parameters alone, within a path), a
 *   control character, a fragment, a broken escape, no path at all
 */
export function parseRequestTarget(sent: string, isPlain = false): RequestTarget | undefined {
  if (isPlain) return plainTarget(sent, '')
  const origin = sent.startsWith('/') ? sent : toOriginForm(sent)
  if (origin === undefined) return undefined
  const mark = origin.indexOf('?')
  const sentPath = mark === -1 ? origin : origin.slice(0, mark)
  const query = mark === -1 ? '' : origin.slice(mark)
  if (origin.includes('#') || rawControl.test(origin)) return undefined
  if (sentPath.includes('\\') || sentPath.includes('//')) return undefined
  if (!sentPath.includes('%') && !sentPath.includes('/.') && !sentPath.includes(';')) {
    return plainTarget(sentPath, query)
  }
  return parseEscaped(sentPath, query)
}

function plainTarget(path: string, query: string): RequestTarget {
  return { path, sentPath: path, query, hasParameters: false, hasEncodedSlash: false }
}

function toOriginForm(sent: string): string | undefined {
  const [origin, authority] = absoluteForm.exec(sent) ?? []
  if (origin === undefined || authority === undefined || !hasNameLengths(withoutPort(authority)))
    return undefined
  const rest = sent.slice(origin.length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

function parseEscaped(sentPath: string, query: string): RequestTarget | undefined {
  if (brokenEscape.test(sentPath) || control.test(sentPath)) return undefined
  const path = sentPath.replaceAll(changedEscape, decodeUnreserved)
  const lenientPath = path.replaceAll('%2F', '/').replaceAll('%5C', '\\').replaceAll('%3B', ';')
  if (dotSegment.test(lenientPath)) return undefined
  const bare = withoutParameters(path)
  if (bare.includes('//')) return undefined
  return {
    path,
    sentPath,
    query,
    hasParameters: bare !== path,
    hasEncodedSlash: /%2F|%5C/.test(path),
  }
}

function decodeUnreserved(encoded: string): string {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16))
  return unreserved.test(character) ? character : encoded.toUpperCase()
}
