import type { NodeAddress } from '../store/redis/client.ts'

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

/** `host:port` or `[address]:port`; undefined if the text is neither. */
export function parseRedisNode(text: string): NodeAddress | undefined {
  const [, address, name, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/@[\]]+)):(\d{1,5})$/.exec(text) ?? []
  const host = address ?? name
  const port = Number(digits)
  return host !== undefined && port >= 1 && port <= 65_535 ? { host, port } : undefined
}
