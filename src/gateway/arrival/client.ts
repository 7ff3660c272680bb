import { isIP, isIPv6 } from 'node:net'
import type { ClientExchange } from '#http/client-exchange.ts'
import { type AddressSet, unmappedAddress } from '#platform/addresses.ts'
import { hasNameLengths, withoutPort } from '../routes/hosts.ts'

/** The client of a request, and the name by which it addresses the gateway. */
export interface Client {
  /** Address of the client itself, as reported by trusted proxies. */
  readonly address: string
  /** Whether the peer of the connection is a trusted proxy. */
  readonly isTrusted: boolean
  /** Values of X-Forwarded-For, -Proto and -Host for the upstream. */
  readonly forwardedFor: string
  readonly protocol: string
  /** Empty where the Host is missing, or a trusted proxy names one that no host can have: such requests are refused. */
  readonly host: string
}

/** What a request says about its client, if its sender is a proxy. */
export interface ClientClaims {
  /** All X-Forwarded-For, joined. */
  readonly forwardedFor: string | undefined
  /** The first X-Forwarded-Proto and -Host. */
  readonly forwardedProto: string | undefined
  readonly forwardedHost: string | undefined
}

/**
 * Trusts X-Forwarded-* from a trusted proxy only.
 * @param host as it was sent
 */
export function readClient(
  { peerAddress: peer, protocol }: Pick<ClientExchange, 'peerAddress' | 'protocol'>,
  host: string,
  claims: ClientClaims,
  trusted: AddressSet,
): Client {
  if (!trusted.has(peer)) return { address: peer, isTrusted: false, forwardedFor: peer, protocol, host }
  const { forwardedFor } = claims
  return {
    address: forwardedFor === undefined ? peer : clientAddress(peer, forwardedFor, trusted),
    isTrusted: true,
    forwardedFor: forwardedFor === undefined ? peer : `${forwardedFor}, ${peer}`,
    protocol: firstForwardedValue(claims.forwardedProto, schemePattern)?.toLowerCase() ?? protocol,
    host: forwardedHost(claims.forwardedHost) ?? host,
  }
}

function forwardedHost(claimed: string | undefined): string | undefined {
  const host = firstForwardedValue(claimed, hostPattern)
  return host !== undefined && !hasNameLengths(withoutPort(host)) ? '' : host
}

// Absolute URLs are built from these: no other characters are allowed.
const schemePattern = /^[A-Za-z][A-Za-z0-9+.-]*$/
const hostPattern = /^[A-Za-z0-9\-._~!$&'()*+;=%:[\]]+$/

/** The first value of a list that a chain of proxies extended; undefined where it does not match. */
function firstForwardedValue(claimed: string | undefined, pattern: RegExp): string | undefined {
  const first = claimed?.split(',', 1)[0]?.trim()
  return first !== undefined && pattern.test(first) ? first : undefined
}

/**
 * From the right, the first address that is not a trusted proxy. Addresses to the left of it are claims of that client,
 * and ignored.
 */
function clientAddress(peer: string, forwardedFor: string, trusted: AddressSet): string {
  let address = peer
  for (const claimed of forwardedFor.split(',').toReversed()) {
    const next = parseForwardedAddress(claimed.trim())
    if (!trusted.has(address) || isIP(next) === 0) return address
    address = next
  }
  return address
}

/** Some proxies (Azure, IIS) add the port, and then write IPv6 addresses in brackets; some write these always. */
const withPort = /^(?:\[(?<v6>[\da-f:.]+)\]|(?<v4>\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/i

function parseForwardedAddress(text: string): string {
  if (isIP(text) !== 0) return unmappedAddress(text)
  const { v6, v4 } = withPort.exec(text)?.groups ?? {}
  return unmappedAddress(v6 !== undefined && isIPv6(v6) ? v6 : (v4 ?? text))
}
