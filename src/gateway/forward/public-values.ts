import { normalizedHost } from '../routes/hosts.ts'
import { type StrippedPrefix, withPrefix } from './stripped-prefix.ts'

/** Names of the response fields in which a backend tells its own paths, in lower case. */
export const pathFields = ['location', 'content-location', 'refresh', 'link', 'set-cookie'] as const

export interface PublicValueContext {
  /** The origin that the target would use for itself. */
  readonly targetOrigin: string
  /** As the client calls the gateway: `http`, and `localhost:8080`. */
  readonly client: { readonly protocol: string; readonly host: string }
  /** How the paths of the target differ; undefined = not at all. */
  readonly strippedPrefix: StrippedPrefix | undefined
}

/**
 * The value of a response field for the client: URLs of the target become those of this gateway, and paths of the
 * backend get the prefix back that it does not see.
 * @param lower its name in lower case
 */
export function publicValue(lower: string, value: string, context: PublicValueContext): string {
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

// RFC 3986 3: a scheme, which may be left out, and an authority.
const originPattern = /^(https?:)?\/\/([^/?#\\]*)(?=[/?#]|$)/i

/**
 * A Location or Content-Location of a target, for the client: the target's origin, however it is written, becomes the
 * public one, and paths of this gateway get the stripped prefix back. URLs of other hosts and relative references stay.
 */
export function publicLocation(location: string, context: PublicValueContext): string {
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
  const isClientHost =
    normalizedHost(scheme ?? clientScheme, authority) === normalizedHost(clientScheme, client.host)
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
  return `${scheme.toLowerCase()}//${normalizedHost(scheme, authority)}`
}

/** The references of links are within `<` and `>` (RFC 8288 3); a quoted parameter may hold these too. */
function publicLinks(value: string, context: PublicValueContext): string {
  let written = ''
  let isQuoted = false
  // No `<` is closed beyond this: searching from each would take quadratic time.
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
function publicRefresh(value: string, context: PublicValueContext): string {
  const [, start = '', quote = '', rest = ''] = refresh.exec(value) ?? []
  const closing = quote === '' ? -1 : rest.indexOf(quote)
  const end = closing === -1 ? rest.length : closing
  return start + quote + publicLocation(rest.slice(0, end), context) + rest.slice(end)
}

const pathAttribute = /^(\s*path\s*=\s*)(\/.*)$/i

/**
 * A cookie for the root becomes one for the whole route. Browsers drop `__Host-` cookies with any other path (RFC
 * 6265bis 4.1.3.2).
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
