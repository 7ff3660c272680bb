/** Of a name in DNS, in characters, without the dot of the root (RFC 1035 2.3.4). */
const nameLengthMax = 253

/** The same with that dot, a colon and the five digits of a port. */
export const hostLengthMax = nameLengthMax + 1 + 6

/**
 * Whether a host name is short enough for DNS, and has no empty label but that of the root at its end (RFC 1034 3.1).
 * @param name without port
 */
export function hasNameLengths(name: string): boolean {
  const length = name.endsWith('.') ? name.length - 1 : name.length
  return length <= nameLengthMax && !name.startsWith('.') && !name.includes('..')
}

/** The name in a host that may have a port. */
export function withoutPort(host: string): string {
  const colon = host.lastIndexOf(':')
  return colon > host.lastIndexOf(']') ? host.slice(0, colon) : host
}
