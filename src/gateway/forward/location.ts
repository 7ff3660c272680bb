import { type StrippedPrefix, withPrefix } from './stripped-prefix.ts'

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
