import { valuesOf } from '#http/h1/raw-headers.ts'
import { parseRequestTarget } from '../routes/request-target.ts'
import type { Route } from '../routes/route.ts'

/** The start of the client's path that was removed before the backend sees it. */
export interface StrippedPrefix {
  /** By this gateway: `/orders`. */
  readonly own: string
  /** By trusted proxies before it: `/outer`; empty = nothing. */
  readonly outer: string
}

/** @returns undefined where the route strips nothing */
export function readStrippedPrefix(
  route: Pick<Route<unknown>, 'stripPrefix' | 'prefix'>,
  rawHeaders: readonly string[],
  isTrusted: boolean,
): StrippedPrefix | undefined {
  if (!route.stripPrefix || route.prefix === '') return undefined
  return { own: route.prefix, outer: isTrusted ? readOuterPrefix(rawHeaders) : '' }
}

/** The value of X-Forwarded-Prefix for the backend: the one path that it has to put before its own. */
export function forwardedPrefix({ own, outer }: StrippedPrefix): string {
  return outer + own
}

/** The client's path for a path of the backend, which begins with `/`. */
export function withPrefix(path: string, { own, outer }: StrippedPrefix): string {
  // A backend that honours X-Forwarded-Prefix, or knows where it is published, has added it itself.
  if (outer !== '' && isBelow(path, outer + own)) return path
  return isBelow(path, own) ? outer + path : outer + own + path
}

/** Whether a path, with or without a query, is a prefix or below it. */
export function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && /^(?:[/?#]|$)/.test(path.slice(prefix.length))
}

/** Each proxy of a chain adds what it stripped, as a further field or item of a list. */
function readOuterPrefix(rawHeaders: readonly string[]): string {
  let outer = ''
  for (const part of valuesOf(rawHeaders, 'x-forwarded-prefix').flatMap((value) => value.split(','))) {
    const prefix = part.trim().replace(/\/$/, '')
    if (prefix !== '' && !isPlainPath(prefix)) return ''
    outer += prefix
  }
  return outer
}

/** The backend builds URLs from it: it must not become another host, or leave the path. */
function isPlainPath(prefix: string): boolean {
  if (!prefix.startsWith('/') || !/^[A-Za-z0-9\-._~!$&'()*+;=:@%/]+$/.test(prefix)) return false
  const target = parseRequestTarget(prefix)
  return target !== undefined && !target.hasEncodedSlash && !target.hasParameters
}

export interface LocationContext {
  /** The origin that the target would use for itself. */
  readonly targetOrigin: string
  /** As the client calls the gateway: `http`, and `localhost:8080`. */
  readonly client: { readonly protocol: string; readonly host: string }
  /** What the target's paths lack; undefined = nothing. */
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

/** An origin and what follows it; a path alone has no origin. */
const reference = /^((?:https?:\/\/[^/?#<>]+)?)(\/.*)$/i

/**
 * The value of `If` (RFC 4918 10.4) for a backend that does not see a prefix: the prefix is removed from the resources
 * that its lists name. A resource below another path is left unchanged, and so matches nothing at the backend. Tokens
 * and entity tags, which are within parentheses, are not touched.
 * @param prefix that was stripped: `/files`
 */
export function withoutPrefixInIf(value: string, prefix: string): string {
  if (!value.includes(prefix)) return value
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

function stripped(resource: string, prefix: string): string {
  const [, origin = '', path = ''] = reference.exec(resource) ?? []
  if (!isBelow(path, prefix)) return resource
  const rest = path.slice(prefix.length)
  return `${origin}${rest.startsWith('/') ? '' : '/'}${rest}`
}
