import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { parseHost } from '../http/host.ts'
import { isLoopback } from '../platform/host.ts'

/** Where the ops listener listens, and the names it is known by besides. */
export interface OpsAddress {
  readonly host: string
  /** Further names that a Host header may have, in lower case. */
  readonly hosts: readonly string[]
}

/** Names that nobody can register in the public DNS: single words, and those of clusters and private networks. */
const privateName = /^[^.]+$|\.(?:svc|svc\.cluster\.local|internal)$/

/**
 * Why a request must not be answered on the ops listener, in words for an operator; undefined = it may be.
 *
 * What a page of another origin sends is marked by its browser (`Sec-Fetch-Site`, `Origin`), but for one case: DNS
 * rebinding, where the page's own name has come to mean this machine. Then only `Host` tells, which holds that name.
 * So a name must be one of ours; an address cannot be rebound, and browsers always send a `Host`.
 */
export function refuseCrossOrigin(headers: IncomingHttpHeaders, address: OpsAddress): string | undefined {
  const { host, origin, 'sec-fetch-site': site } = headers
  // `none`: somebody typed the address.
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return 'Sec-Fetch-Site: pages of other origins may call nothing here'
  if (origin !== undefined && !isSameAuthority(origin, host))
    return 'Origin: pages of other origins may call nothing here'
  if (host === undefined || host === '') return undefined
  const name = parseHost(host)
  if (name !== undefined && isListenerName(name.replace(/\.$/, ''), address)) return undefined
  return 'Host: this is not a name of this listener; add it to ops.hosts in the config'
}

function isSameAuthority(origin: string, host: string | undefined): boolean {
  const originHost = URL.parse(origin)?.host
  // Parsed too, for the form that an origin has: in lower case, without a default port.
  return originHost !== undefined && originHost === URL.parse(`http://${host}`)?.host
}

function isListenerName(name: string, { host, hosts }: OpsAddress): boolean {
  if (isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0) return true
  if (name === 'localhost' || name.endsWith('.localhost') || name === host.toLowerCase()) return true
  if (hosts.includes(name) || name === hostname().toLowerCase()) return true
  // Others reach it only where it listens beyond this machine: scrapers, by the name of a service.
  return !isLoopback(host) && privateName.test(name)
}
