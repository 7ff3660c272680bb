import { valuesOf } from '#http/request-head.ts'
import { parseRequestTarget } from '../routes/request-target.ts'
import type { Route } from '../routes/route.ts'

/** How the start of the path differs between the client and the backend. */
export interface StrippedPrefix {
  /** By this gateway: `/orders`; empty = nothing. */
  readonly own: string
  /** What the backend sees in its place: `/api`; empty = nothing. */
  readonly replacement: string
  /** By trusted proxies before it: `/outer`; empty = nothing. */
  readonly outer: string
}

/** @returns undefined where the backend sees the path as it was sent */
export function readStrippedPrefix(
  { rewrite, prefix }: Pick<Route<unknown>, 'rewrite' | 'prefix'>,
  rawHeaders: readonly string[],
  isTrusted: boolean,
): StrippedPrefix | undefined {
  if (rewrite === undefined) return undefined
  return { own: prefix, replacement: rewrite, outer: isTrusted ? readOuterPrefix(rawHeaders) : '' }
}

/** The prefix at a target whose paths all begin with a base path; empty = none. */
export function atBasePath(prefix: StrippedPrefix | undefined, basePath: string): StrippedPrefix | undefined {
  if (basePath === '') return prefix
  const { own, replacement, outer } = prefix ?? { own: '', replacement: '', outer: '' }
  return { own, replacement: basePath + replacement, outer }
}

/** The value of X-Forwarded-Prefix for the backend: the one path that it has to put before its own. */
export function forwardedPrefix({ own, outer }: StrippedPrefix): string {
  return outer + own
}

/**
 * The client's path for a path of the backend, which begins with `/`. A path that is not below what the backend sees in
 * place of the prefix is left unchanged, as no request of this route leads there.
 */
export function withPrefix(path: string, { own, replacement, outer }: StrippedPrefix): string {
  const published = outer + own
  // A backend that honours X-Forwarded-Prefix, or knows where it is published, has added it itself.
  const added = [published, own].find((prefix) => prefix !== '' && isBelow(path, prefix + replacement))
  if (added !== undefined) return withRoot(published + path.slice(added.length + replacement.length))
  if (isBelow(path, replacement)) return withRoot(published + path.slice(replacement.length))
  return own !== '' && isBelow(path, own) ? outer + path : path
}

/** What follows a prefix may be empty, begin with a query, or with what would become a host (RFC 3986 4.2). */
function withRoot(path: string): string {
  if (/^\/[/\\]/.test(path)) return `/.${path}`
  return path.startsWith('/') ? path : `/${path}`
}

/** Whether a path, with or without a query, is a prefix or below it. */
export function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && /^(?:[/?#]|$)/.test(path.slice(prefix.length))
}

/** What trusted proxies have stripped. Each of a chain adds it, as a further field or item of a list. */
export function readOuterPrefix(rawHeaders: readonly string[]): string {
  let outer = ''
  for (const part of valuesOf(rawHeaders, 'x-forwarded-prefix').flatMap((value) => value.split(','))) {
    const prefix = part.trim().replace(/\/$/, '')
    // The backend builds URLs from it: it must not become another host, or leave the path.
    if (prefix !== '' && !isPlainPath(prefix)) return ''
    outer += prefix
  }
  return outer
}

/** One path of ASCII without an end slash, which all servers read alike: no dot or empty segments, no parameters. */
export function isPlainPath(prefix: string): boolean {
  if (!prefix.startsWith('/') || !/^[A-Za-z0-9\-._~!$&'()*+;=:@%/]+$/.test(prefix)) return false
  const target = parseRequestTarget(prefix)
  return target !== undefined && !target.hasEncodedSlash && !target.hasParameters
}

type ReplacedPrefix = Pick<StrippedPrefix, 'own' | 'replacement'>

/** An origin and what follows it; a path alone has no origin. */
const reference = /^((?:https?:\/\/[^/?#<>]+)?)(\/.*)$/i

/**
 * The value of `If` (RFC 4918 10.4) for a backend that does not see a prefix: the prefix is removed from the resources
 * that its lists name. A resource below another path is left unchanged, and so matches nothing at the backend. Tokens
 * and entity tags, which are within parentheses, are not touched.
 */
export function withoutPrefixInIf(value: string, prefix: ReplacedPrefix): string {
  if (!value.includes(prefix.own)) return value
  let written = ''
  let isInList = false
  let isQuoted = false
  // No `<` is closed beyond this: searching from each would take quadratic time.
  const lastEnd = value.lastIndexOf('>')
  for (let index = 0; index < value.length; index++) {
    const character = value[index] ?? ''
    if (character === '"') isQuoted = isInList && !isQuoted
    else if (!isQuoted && (character === '(' || character === ')')) isInList = character === '('
    const end = character === '<' && !isInList && index < lastEnd ? value.indexOf('>', index) : -1
    if (end === -1) written += character
    else {
      written += `<${stripped(value.slice(index + 1, end), prefix)}>`
      index = end
    }
  }
  return written
}

function stripped(resource: string, { own, replacement }: ReplacedPrefix): string {
  const [, origin = '', path = ''] = reference.exec(resource) ?? []
  return isBelow(path, own) ? origin + withRoot(replacement + path.slice(own.length)) : resource
}
