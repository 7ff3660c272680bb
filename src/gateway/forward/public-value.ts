import { type LocationContext, publicLocation, type StrippedPrefix, withPrefix } from './stripped-prefix.ts'

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
