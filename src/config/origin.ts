// RFC 6454 4: a scheme and an authority, followed at most by the slash of an empty path.
const originPattern = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\\@\s,]+\/?$/i

/**
 * An origin as browsers write it in `Origin`: in lower case, in ASCII, without the port that the scheme implies.
 * @returns undefined if the text is not an origin, such as `*`, `null`, or a URL with a path
 */
export function parseOrigin(text: string): string | undefined {
  const url = originPattern.test(text) ? URL.parse(text) : null
  if (!url || url.host === '' || url.host.includes('*')) return undefined
  // URL returns no origin for unknown schemes, such as those of apps; browsers do.
  return url.origin === 'null' ? `${url.protocol}//${url.host.toLowerCase()}` : url.origin
}
