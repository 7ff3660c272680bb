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

export interface LocationContext {
  /** The origin that the target would use for itself. */
  readonly targetOrigin: string
  /** As the client calls the gateway: `http`, and `localhost:8080`. */
  readonly client: { readonly protocol: string; readonly host: string }
  /** How the paths of the target differ; undefined = not at all. */
  readonly strippedPrefix: StrippedPrefix | undefined
}

// RFC 3986 3: a scheme, which may be left out, and an authority.
const originPattern = /^(https?:)?\/\/([^/?#\\]*)(?=[/?#]|$)/i

/**
 * A Location or Content-Location of a target, for the client: the target's origin, however it is written, becomes the
 * public one, and paths of this gateway get the stripped prefix back. URLs of other hosts and relative references stay.
 */
export function publicLocation(location: string, context: LocationContext): string {
  const { targetOrigin, client, strippedPrefix } = context
  const [matched, scheme, authority = ''] = originPattern.exec(location) ?? []
  if (matched === undefined) return prefixedPath(location, strippedPrefix)
  const rest = location.slice(matched.length)
  const targetScheme = targetOrigin.slice(0, targetOrigin.indexOf('//'))
  if (originOf(scheme ?? targetScheme, authority) === targetOrigin) {
    const publicOrigin = scheme === undefined ? `//${client.host}` : `${client.protocol}://${client.host}`
    return publicOrigin + prefixedRest(rest, strippedPrefix)
  }
  // The scheme may differ on purpose, as in a redirect to https, and then stays.
  const clientScheme = `${client.protocol}:`
  const isClientHost = hostOf(scheme ?? clientScheme, authority) === hostOf(clientScheme, client.host)
  return isClientHost ? matched + prefixedRest(rest, strippedPrefix) : location
}

/** Leaves `//` alone, which begins a host. */
function prefixedPath(location: string, strippedPrefix: StrippedPrefix | undefined): string {
  if (strippedPrefix === undefined || !location.startsWith('/') || location.startsWith('//')) return location
  return withPrefix(location, strippedPrefix)
}

/** The rest of a URL after its origin; empty means the root. */
function prefixedRest(rest: string, strippedPrefix: StrippedPrefix | undefined): string {
  if (strippedPrefix === undefined) return rest
  return withPrefix(rest.startsWith('/') ? rest : `/${rest}`, strippedPrefix)
}

/** The origin as URL serialises it. */
function originOf(scheme: string, authority: string): string {
  return `${scheme.toLowerCase()}//${hostOf(scheme, authority)}`
}

/**
 * Host and port as URL serialises them: in lower case, without the default port.
 * @param scheme `https:`
 */
export function hostOf(scheme: string, authority: string): string {
  const impliedPort = scheme.toLowerCase() === 'https:' ? /:(?:443)?$/ : /:(?:80)?$/
  return authority.toLowerCase().replace(impliedPort, '')
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

/** Names of the response fields in which a backend tells its own paths, in lower case. */
export const pathFields = ['location', 'content-location', 'refresh', 'link', 'set-cookie'] as const

/**
 * The value of a response field for the client: URLs of the target become those of this gateway, and paths of the
 * backend get the prefix back that it does not see.
 * @param lower its name in lower case
 */
export function publicValue(lower: string, value: string, context: LocationContext): string {
  switch (lower) {
    case 'location':
    case 'content-location':
      return publicLocation(value, context)
    case 'link':
      return publicLinks(value, context)
    case 'refresh':
      return publicRefresh(value, context)
    case 'set-cookie':
      return context.strippedPrefix === undefined ? value : publicCookie(value, context.strippedPrefix)
    default:
      return value
  }
}

/** The references of links are within `<` and `>` (RFC 8288 3); a quoted parameter may hold these too. */
function publicLinks(value: string, context: LocationContext): string {
  let written = ''
  let isQuoted = false
  // After it nothing closes: looking for it from each `<` would cost the square of their number.
  const lastEnd = value.lastIndexOf('>')
  for (let index = 0; index < value.length; index++) {
    const character = value[index] ?? ''
    if (character === '"') isQuoted = !isQuoted
    written += character
    if (character === '\\' && isQuoted) written += value[++index] ?? ''
    if (character !== '<' || isQuoted || index > lastEnd) continue
    const end = value.indexOf('>', index)
    written += publicLocation(value.slice(index + 1, end), context)
    index = end - 1
  }
  return written
}

/** The seconds, what separates them from the URL, and the URL, which may be quoted. */
const refresh = /^([\s\d.]*[;,]?\s*(?:url\s*=\s*)?)(["']?)(.*)$/is

/** Read as browsers do: https://html.spec.whatwg.org/#shared-declarative-refresh-steps. */
function publicRefresh(value: string, context: LocationContext): string {
  const [, start = '', quote = '', rest = ''] = refresh.exec(value) ?? []
  const closing = quote === '' ? -1 : rest.indexOf(quote)
  const end = closing === -1 ? rest.length : closing
  return start + quote + publicLocation(rest.slice(0, end), context) + rest.slice(end)
}

const pathAttribute = /^(\s*path\s*=\s*)(\/.*)$/i

/**
 * A cookie of the root is one of the whole route. Browsers drop `__Host-` cookies with any other path (RFC 6265bis
 * 4.1.3.2).
 */
function publicCookie(cookie: string, prefix: StrippedPrefix): string {
  if (/^\s*__host-/i.test(cookie)) return cookie
  return cookie
    .split(';')
    .map((part, index) => {
      const [, name, path = ''] = (index > 0 && pathAttribute.exec(part)) || []
      return name === undefined ? part : name + cookiePath(path.trimEnd(), prefix)
    })
    .join(';')
}

/** Without a slash at its end a path covers itself too (RFC 6265 5.1.4). */
function cookiePath(path: string, prefix: StrippedPrefix): string {
  if (path === '/' && prefix.replacement === '') return prefix.outer + prefix.own
  return withPrefix(path, prefix)
}
