import { sharedError } from '#platform/errors/gatehouse-error.ts'
import { hasNameLengths, withoutPort } from './hosts.ts'

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
  /** Whether the path has two slashes in a row: the route decides whether it is allowed. */
  readonly hasEmptySegment: boolean
}

// RFC 9110 4.2: only http and https, with a host, and without a user (4.2.4).
const absoluteForm = /^https?:\/\/([A-Za-z0-9\-._~!$&'()*+,;=:%[\]]+)(?=[/?#]|$)/i
const brokenEscape = /%(?![0-9A-Fa-f]{2})/
// Control characters, raw or encoded, in the path; raw ones in the query too.
const control = /[\u0000-\u0020\u007f]|%(?:[01][0-9A-Fa-f]|7[Ff])/
const rawControl = /[\u0000-\u0020\u007f]/
/** Escapes that are normalized: those in lower case, and of unreserved characters (RFC 3986 2.3). */
const changedEscape = /%(?:[0-9A-F][a-f]|[a-f][0-9A-Fa-f]|2[DE]|3[0-9]|[46][1-9A-F]|[57][0-9A]|5F|7E)/g
const unreserved = /[A-Za-z0-9\-._~]/
// A segment that is `.` or `..`, or that a server may treat as one: with parameters, or next to encoded slashes.
const dotSegment = /(?:^|[/\\])\.{1,2}(?:;[^/\\]*)?(?:[/\\]|$)/

/**
 * Reads a request target (RFC 9112 3.2) in origin form, or the path of one in absolute form.
 * @param isPlain whether it is known to be a plain path (see MarkedHead)
 * @returns a fault if servers could interpret the path differently: dot segments (encoded, with parameters, behind an
 * encoded slash), a backslash, a segment of parameters alone (within a path), a control character, a fragment, a broken
 * escape, no path at all
 */
export function readRequestTarget(sent: string, isPlain = false): RequestTarget | PathFault {
  if (isPlain) return plainTarget(sent, '', false)
  const origin = sent.startsWith('/') ? sent : toOriginForm(sent)
  if (origin === undefined) return 'noPath'
  const queryAt = origin.indexOf('?')
  const sentPath = queryAt === -1 ? origin : origin.slice(0, queryAt)
  const query = queryAt === -1 ? '' : origin.slice(queryAt)
  if (origin.includes('#')) return 'fragment'
  if (rawControl.test(origin)) return 'control'
  if (sentPath.includes('\\')) return 'backslash'
  if (!sentPath.includes('%') && !sentPath.includes('/.') && !sentPath.includes(';')) {
    return plainTarget(sentPath, query, sentPath.includes('//'))
  }
  return readEscaped(sentPath, query)
}

/** @throws GatehouseError `path-ambiguous` */
export function requireTarget(sent: string): RequestTarget {
  const target = readRequestTarget(sent)
  if (typeof target === 'string') throw sharedError('path-ambiguous', pathFaults[target])
  return target
}

/** Parses a target without empty segments; undefined = it has one, or another fault. */
export function parseRequestTarget(sent: string): RequestTarget | undefined {
  const target = readRequestTarget(sent)
  return typeof target === 'string' || target.hasEmptySegment ? undefined : target
}

function plainTarget(path: string, query: string, hasEmptySegment: boolean): RequestTarget {
  return { path, sentPath: path, query, hasParameters: false, hasEncodedSlash: false, hasEmptySegment }
}

function toOriginForm(sent: string): string | undefined {
  const [origin, authority] = absoluteForm.exec(sent) ?? []
  if (origin === undefined || authority === undefined || !hasNameLengths(withoutPort(authority)))
    return undefined
  const rest = sent.slice(origin.length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

function readEscaped(sentPath: string, query: string): RequestTarget | PathFault {
  if (brokenEscape.test(sentPath)) return 'brokenEscape'
  if (control.test(sentPath)) return 'control'
  const path = sentPath.replaceAll(changedEscape, decodeUnreserved)
  const lenientPath = path.replaceAll('%2F', '/').replaceAll('%5C', '\\').replaceAll('%3B', ';')
  if (dotSegment.test(lenientPath)) return 'dotSegment'
  const hasEmptySegment = path.includes('//')
  const bare = withoutParameters(path)
  if (hasEmptySegment ? withoutParameters(mergeSlashes(path)).includes('//') : bare.includes('//'))
    return 'parametersOnly'
  return {
    path,
    sentPath,
    query,
    hasParameters: bare !== path,
    hasEncodedSlash: /%2F|%5C/.test(path),
    hasEmptySegment,
  }
}

function decodeUnreserved(encoded: string): string {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16))
  return unreserved.test(character) ? character : encoded.toUpperCase()
}

/**
 * The paths that backends may normalize one path to. Matching uses a path almost as it was sent; a
 * backend may normalize further:
 * - it decodes every escape (Django, Flask, Go, PHP), also those of slashes, and treats a backslash as a slash (IIS),
 * - it strips the parameters of a segment (Tomcat), or everything from the first one on (Fastify 4), before or after
 *   decoding,
 * - it merges slashes (nginx),
 * - it decodes twice, as one behind another proxy may: what was encoded twice is read in both ways.
 * Backends that do only some of this need no extra check: each step can only make a path match a longer prefix, so the
 * form with all steps stands for those with fewer.
 *
 * @param path unreserved characters decoded, escapes in upper case, as `RequestTarget.path`
 * @returns one form, or two where it matters whether parameters are stripped before the path is decoded; then those of
 *   a second decoding
 */
export function normalizedPaths(path: string): readonly string[] {
  const forms = decodedPaths(path)
  if (!path.includes('%25')) return forms
  return [...new Set([...forms, ...decodedPaths(path.replaceAll(encodedTwice, decodeOnce))])]
}

/**
 * The paths of a request to compare with other routes. Where segments are empty, some servers take what follows two
 * slashes at the start of a path for a host, as `new URL(target, base)` does: at the start of the whole path, or of
 * what is left of it once the prefix has been stripped.
 * @param prefix of the route that the path matches literally; empty = none
 */
export function comparedPaths({ path, hasEmptySegment }: RequestTarget, prefix: string): readonly string[] {
  if (!hasEmptySegment) return normalizedPaths(path)
  const withoutHost = prefix + path.slice(prefix.length).replace(/^\/{2,}[^/]*/, '')
  return [...normalizedPaths(path), ...normalizedPaths(withoutHost)]
}

/** The path with one slash for several, as the routes of the gateway itself have it. */
export function mergedPath({ path }: RequestTarget): string {
  return path.replaceAll(/\/+/g, '/')
}

/** The forms of a path after one decoding. */
function decodedPaths(path: string): readonly string[] {
  const decoded = decodeEscapes(path)
  const decodedFirst = mergeSlashes(decoded.replaceAll(decodedParameters, ''))
  if (!path.includes(';') && !path.includes('%3B')) return [decodedFirst]
  const strippedFirst = mergeSlashes(decodeEscapes(withoutParameters(path)))
  return strippedFirst === decodedFirst ? [decodedFirst] : [strippedFirst, decodedFirst]
}

/** A path without the parameters of its segments (RFC 3986 3.3), their mark encoded or not. */
function withoutParameters(path: string): string {
  return path.replaceAll(rawParameters, '')
}

/**
 * Maps characters to one form if some backend treats them as equal: by the i flag of a regular expression (Express,
 * @koa/router: without Unicode, so that it folds K but not the Kelvin sign), by lower or upper case or Unicode case
 * folding (which fold that sign too), and by normalisation (file systems).
 */
export function foldCase(text: string): string {
  if (alreadyFolded.test(text)) return text
  // Through upper case, as only that turns a long s and a sharp s into s and ss; before it lower case, for the capital
  // sharp s.
  const folded = text.toLowerCase().toUpperCase().toLowerCase()
  return ascii.test(folded) ? folded : folded.normalize('NFC')
}

const rawParameters = /(?:;|%3B)[^/]*/g
const encodedTwice = /%25([0-9A-Fa-f]{2})/g
const decodedParameters = /;[^/\\]*/g
const alreadyFolded = /^[a-z0-9/._-]*$/
const ascii = /^[\0-\x7f]*$/
/** One percent-encoded UTF-8 character (RFC 3629 4), or else one byte. */
const encodedCharacter =
  /%F[0-4]%[89AB][0-9A-F]%[89AB][0-9A-F]%[89AB][0-9A-F]|%E[0-9A-F]%[89AB][0-9A-F]%[89AB][0-9A-F]|%[CD][0-9A-F]%[89AB][0-9A-F]|%[0-9A-F]{2}/g

/** Escapes are in upper case, like those of the path. */
function decodeOnce(_: string, hex: string): string {
  return `%${hex.toUpperCase()}`
}

function decodeEscapes(path: string): string {
  return path.includes('%') ? path.replaceAll(encodedCharacter, decodeEscape) : path
}

/**
 * Bytes that are not UTF-8 may be Latin-1: those of an overlong character, a surrogate, or one beyond Unicode (RFC 3629
 * 3). decodeURIComponent() would throw for each of them, which is slow.
 * @param encoded as `encodedCharacter` matches it
 */
function decodeEscape(encoded: string): string {
  const bytes = encoded.length / 3
  const first = byteOf(encoded, 0)
  if (bytes === 1) return String.fromCharCode(first)
  let code = first & (0x7f >> bytes)
  for (let index = 1; index < bytes; index++) code = (code << 6) | (byteOf(encoded, index) & 0x3f)
  const isSurrogate = code >= 0xd800 && code <= 0xdfff
  if (code >= (leastCodes[bytes] ?? 0) && code <= 0x10ffff && !isSurrogate) return String.fromCodePoint(code)
  return String.fromCharCode(...Array.from({ length: bytes }, (_, index) => byteOf(encoded, index)))
}

/** The smallest code point for each number of UTF-8 bytes. */
const leastCodes = [0, 0, 0x80, 0x800, 0x10000]

function byteOf(encoded: string, index: number): number {
  return 16 * digitOf(encoded.charCodeAt(3 * index + 1)) + digitOf(encoded.charCodeAt(3 * index + 2))
}

/** The value of a hexadecimal digit, either case: letters have a bit that digits lack. */
function digitOf(code: number): number {
  return (code & 0x0f) + 9 * (code >> 6)
}

/** Turns backslashes into slashes, merges slashes, and removes the last one, as prefixes have none. */
function mergeSlashes(path: string): string {
  return path.replaceAll(/[/\\]+/g, '/').replace(/\/$/, '')
}

/** Why a request target could be read in two ways, as the client is told: each is one of a closed set. */
export const pathFaults = {
  noPath: 'The target is neither a path nor an http or https URL with a host.',
  fragment: 'The target has a fragment: write # as %23 where it belongs to the path.',
  control: 'The target has a space or a control character: write a space as %20, and leave out the others.',
  backslash: 'The path has a backslash: write / between segments.',
  brokenEscape: 'A % in the path is not followed by two hexadecimal digits: write % itself as %25.',
  dotSegment: 'The path has a dot segment (. or ..), plain or encoded: send the path that it resolves to.',
  emptySegment: 'The path has two slashes in a row: did the base URL end with a slash?',
  parametersOnly: 'A path segment consists of parameters (;) only.',
  encodedSlash: 'The path has an encoded slash or backslash (%2F, %5C), which is not accepted here.',
} as const

type PathFault = keyof typeof pathFaults

/** The detail for a path that a backend may read as one of another route. */
export function otherRouteDetail(path: string): string {
  const causes = [
    ...(path.includes('//') ? ['slashes in a row are merged'] : []),
    ...(path.includes('%') ? ['escapes (%) are decoded'] : []),
    ...(/;|%3B/.test(path) ? ['parameters (;) are removed'] : []),
    ...(/[A-Z]/.test(path.replaceAll(/%[0-9A-F]{2}/g, '')) ? ['case is ignored'] : []),
  ]
  // Without any of these, the path is in lower case, and the prefix of the other route is not.
  const once = causes.length === 0 ? 'case is ignored' : causes.join(' or ')
  return `The path would match another route once ${once}: write it as that route does.`
}
