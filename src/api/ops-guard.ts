import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { parseHost } from '#gateway/routes/host-name.ts'
import { isLoopback } from '#platform/addresses.ts'

/** The address of the ops listener, and its further names. */
export interface OpsAddress {
  readonly host: string
  /** Further names that a Host header may have, in lower case. */
  readonly hosts: readonly string[]
}

/** Names that nobody can register in public DNS: single labels, and those of clusters and private networks. */
const privateName = /^[^.]+$|\.(?:svc|svc\.cluster\.local|internal)$/

/**
 * Why the ops listener refuses a request, for the log; undefined = it is accepted.
 *
 * Browsers mark cross-origin requests (`Sec-Fetch-Site`, `Origin`), with one exception: DNS rebinding, where the name of
 * the page resolves to this machine. Then only `Host` shows it, as it contains that name. So a name must be a known
 * one; an address cannot be rebound, and browsers always send a `Host`.
 */
export function refuseCrossOrigin(headers: IncomingHttpHeaders, address: OpsAddress): string | undefined {
  const { host, origin, 'sec-fetch-site': site } = headers
  // `none`: the address was typed.
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return 'Sec-Fetch-Site: cross-origin requests are not allowed here'
  if (origin !== undefined && !isSameAuthority(origin, host))
    return 'Origin: cross-origin requests are not allowed here'
  if (host === undefined || host === '') return undefined
  const name = parseHost(host)
  if (name !== undefined && isListenerName(name.replace(/\.$/, ''), address)) return undefined
  return 'Host: not a known name of this listener; add it to ops.hosts in the config'
}

function isSameAuthority(origin: string, host: string | undefined): boolean {
  const originHost = URL.parse(origin)?.host
  // Parsed too, to get the form of an origin: in lower case, without a default port.
  return originHost !== undefined && originHost === URL.parse(`http://${host}`)?.host
}

function isListenerName(name: string, { host, hosts }: OpsAddress): boolean {
  if (isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0) return true
  if (name === 'localhost' || name.endsWith('.localhost') || name === host.toLowerCase()) return true
  if (hosts.includes(name) || name === hostname().toLowerCase()) return true
  // Other names are used only where it listens beyond this machine: by scrapers, as a service name.
  return !isLoopback(host) && privateName.test(name)
}
