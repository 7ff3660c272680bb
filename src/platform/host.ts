import { isIPv6 } from 'node:net'

/** Normalizes a host: `LOCALHOST` and `127.0.0.1` are the same, and so are `::` and `0:0::0`. */
export function normalizeHost(host: string): string {
  if (host.toLowerCase() === 'localhost') return '127.0.0.1'
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  return isIPv6(bare) ? (URL.parse(`http://[${bare}]`)?.hostname.slice(1, -1) ?? bare) : bare
}

/** Whether a host is a loopback address. */
export function isLoopback(host: string): boolean {
  return /^(?:.+\.localhost|127\.\d+\.\d+\.\d+|::1)$/.test(normalizeHost(host))
}

/** Whether a host is the wildcard address (0.0.0.0 or ::). */
export function isWildcardAddress(host: string): boolean {
  return ['0.0.0.0', '::'].includes(normalizeHost(host))
}
