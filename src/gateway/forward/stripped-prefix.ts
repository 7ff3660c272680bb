import { valuesOf } from '#http/h1/raw-headers.ts'
import { parseRequestTarget } from '../routes/request-target.ts'
import type { Route } from '../routes/route.ts'

/** What was removed from the front of the client's path, so that the backend does not see it. */
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

/** The value of X-Forwarded-Prefix for the backend: one path, as backends put it before their own. */
export function forwardedPrefix({ own, outer }: StrippedPrefix): string {
  return outer + own
}

/** The path for the client of a path of the backend, which begins with `/`. */
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
  /** What paths of the target lack; undefined = nothing. */
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
  // The scheme stays: it may be another one on purpose, as in a redirect to https.
  const clientScheme = `${client.protocol}:`
  const isClientHost = hostOf(scheme ?? clientScheme, authority) === hostOf(clientScheme, client.host)
  return isClientHost ? matched + prefixedRest(rest, strippedPrefix) : location
}

/** Not `//`, which begins a host. */
function prefixedPath(location: string, strippedPrefix: StrippedPrefix | undefined): string {
  if (strippedPrefix === undefined || !location.startsWith('/') || location.startsWith('//')) return location
  return withPrefix(location, strippedPrefix)
}

/** What follows an origin may be empty, which is the root. */
function prefixedRest(rest: string, strippedPrefix: StrippedPrefix | undefined): string {
  if (strippedPrefix === undefined) return rest
  return withPrefix(rest.startsWith('/') ? rest : `/${rest}`, strippedPrefix)
}

/** The origin as URL writes it. */
function originOf(scheme: string, authority: string): string {
  return `${scheme.toLowerCase()}//${hostOf(scheme, authority)}`
}

/** Host and port as URL writes them: in lower case, without the port that the scheme implies. @param scheme `https:` */
export function hostOf(scheme: string, authority: string): string {
  const impliedPort = scheme.toLowerCase() === 'https:' ? /:(?:443)?$/ : /:(?:80)?$/
  return authority.toLowerCase().replace(impliedPort, '')
}

/** An origin and what follows it; a path alone has no origin. */
const reference = /^((?:https?:\/\/[^/?#<>]+)?)(\/.*)$/i

/**
 * The value of `If` (RFC 4918 10.4) for a backend that does not see a prefix: the resources that its lists are about lose
 * it. One below another path stays as it is, and so names nothing that the backend has. Tokens and entity tags, which are
 * within parentheses, are not touched.
 * @param prefix that was stripped: `/files`
 */
export function withoutPrefixInIf(value: string, prefix: string): string {
  if (!value.includes(prefix)) return value
  let written = ''
  let isInList = false
  let isQuoted = false
  // After it nothing closes: looking for it from each `<` would cost the square of their number.
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
