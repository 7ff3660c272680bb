import { GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import { memoizeBounded } from '#platform/memoize.ts'
import { copyString, decodeBytes } from '#platform/text.ts'

/** Maximum length of a name in DNS, in characters, without the dot of the root (RFC 1035 2.3.4). */
const nameLengthMax = 253

/** Maximum length of a host: a name with the dot of the root, a colon and the five digits of a port. */
const hostLengthMax = nameLengthMax + 1 + 6

// RFC 9110 7.2, RFC 3986 3.2.2: a name or an address, and an optional port.
const hostPattern =
  /^((?:\[[0-9A-Fa-f:.]+\])|(?:[A-Za-z0-9\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2})+)(?::[0-9]{0,5})?$/

/** Together no more than 0.3 MiB. */
const memoizeBounds = { entriesMax: 256, keyLengthMax: hostLengthMax }

/** A well-formed Host header. */
export interface ReadHost {
  readonly sent: string
  /** In lower case, without the port. */
  readonly name: string
}

/** undefined = it is malformed. */
const readHost = memoizeBounded(memoizeBounds, (sent): ReadHost | undefined => {
  const name = sent.length > hostLengthMax ? undefined : hostPattern.exec(sent)?.[1]?.toLowerCase()
  if (name === undefined || !hasNameLengths(name)) return undefined
  return { sent: copyString(sent), name: copyString(name) }
})

export const noHost: ReadHost = { sent: '', name: '' }
let last = noHost

/**
 * Reads the Host header in a text. Hot: nearly always it is that of the request before, which is found without a slice,
 * and V8 would intern each slice that is looked up in a map.
 * @returns noHost if it is malformed
 */
export function readHostAt(text: string, start: number, end: number): ReadHost {
  if (end - start !== last.sent.length || !text.startsWith(last.sent, start))
    last = readHost(text.slice(start, end)) ?? noHost
  return last
}

/** The name in a Host header, in lower case and without the port; undefined where it is malformed. */
export function parseHost(host: string): string | undefined {
  return readHost(host)?.name
}

/** In lower case, without port. @throws GatehouseError `request-invalid` */
export function parseHostName({
  host,
  uncommon: { isHostRepeated },
}: {
  readonly host: string | undefined
  readonly uncommon: { readonly isHostRepeated: boolean }
}): string {
  const hostName = host === undefined || isHostRepeated ? undefined : parseHost(host)
  if (hostName === undefined) throw hostError(host, isHostRepeated)
  return hostName
}

/** The error for a name from a trusted proxy that is not a valid host. */
export function forwardedHostError(): GatehouseError {
  return invalidField('X-Forwarded-Host', 'is not well-formed')
}

/** The error for a name that servers read differently, where one reading has routes of its own. */
export function ambiguousHostError(): GatehouseError {
  return new GatehouseError('request-invalid', {
    detail: 'The Host header has a name that servers read differently.',
    errors: [{ field: 'Host', message: 'must be a plain name: no dot at its end, no escapes and no list' }],
  })
}

function hostError(host: string | undefined, isRepeated: boolean): GatehouseError {
  const message =
    host === undefined ? 'is missing' : isRepeated ? 'was sent more than once' : 'is not well-formed'
  return new GatehouseError('request-invalid', {
    detail: 'There must be exactly one well-formed Host header.',
    errors: [{ field: 'Host', message }],
  })
}

/**
 * Whether a host name is short enough for DNS, and has no empty label but the root's at its end (RFC 1034 3.1).
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

/**
 * Host and port as URL serialises them: in lower case, without the default port.
 * @param scheme `https:`
 */
export function normalizedHost(scheme: string, authority: string): string {
  const impliedPort = scheme.toLowerCase() === 'https:' ? /:(?:443)?$/ : /:(?:80)?$/
  return authority.toLowerCase().replace(impliedPort, '')
}

/**
 * The name that some servers read a host as: without trailing dots (RFC 1034 3.1), and with its escapes decoded (RFC
 * 3986 3.2.2); undefined = all servers read it in the same way.
 * @param host in lower case, without port
 */
export function plainHostName(host: string): string | undefined {
  if (!host.endsWith('.') && !host.includes('%')) return undefined
  const decoded = decodeBytes(host)
  let end = decoded.length
  while (decoded.charCodeAt(end - 1) === dot) end--
  return decoded.slice(0, end).toLowerCase()
}

const dot = '.'.charCodeAt(0)

// Hosts of routes: a name, a wildcard such as `*.example.com` for one or more labels, or undefined for any host.

export function isWildcard(host: string | undefined): host is string {
  return host?.startsWith('*.') === true
}

/** Whether one stands for every host that the other stands for. */
function covers(host: string | undefined, other: string | undefined): boolean {
  if (host === undefined || host === other) return true
  return isWildcard(host) && other?.endsWith(host.slice(1)) === true
}

/** Whether there is a host that both stand for. */
export function hostsOverlap(one: string | undefined, other: string | undefined): boolean {
  return covers(one, other) || covers(other, one)
}

/** Like `publicUrl`, but with the host of the route, if it has one. */
export function originOfRoute(
  { host }: { readonly host?: string | undefined },
  publicOrigin: string,
): string {
  if (host === undefined) return publicOrigin
  const url = new URL(publicOrigin)
  url.hostname = host
  return url.origin
}

const usualName = /^[a-z0-9._-]*$/

export interface HostLookup<Value> {
  /** The values that apply to a host, in order: that of its name, of wildcards, the longest first, and of any host. */
  valuesFor(hostName: string): readonly Value[]
  /** Whether a host has a value of its own, or by a wildcard. */
  isNamed(hostName: string): boolean
  /**
   * Whether a host that only a wildcard stands for has characters that no name has, such as a comma: some servers would
   * take it for a list of names.
   */
  isMisread(hostName: string): boolean
}

/**
 * Built once; a look-up creates nothing, and costs one step for each label of the longest wildcard at most.
 * @param byHost in lower case
 */
export function createHostLookup<Value>(byHost: ReadonlyMap<string | undefined, Value>): HostLookup<Value> {
  const any = byHost.get(undefined)
  const ofAny: readonly Value[] = any === undefined ? [] : [any]
  const wildcards = new Map<string, readonly Value[]>()
  const names = new Map<string, readonly Value[]>()
  let labelsMax = 0

  /** @returns those of any host where no wildcard stands for the host */
  function byWildcard(host: string): readonly Value[] {
    let found = ofAny
    let dot = host.length
    for (let labels = 0; labels < labelsMax; labels++) {
      dot = host.lastIndexOf('.', dot - 1)
      if (dot <= 0) break
      found = wildcards.get(host.slice(dot)) ?? found
    }
    return found
  }

  // The shortest first: the longer ones end with them.
  const hosts = [...byHost].toSorted(([a = ''], [b = '']) => a.length - b.length)
  for (const [host, value] of hosts.filter(([host]) => isWildcard(host))) {
    const suffix = host?.slice(1) ?? ''
    wildcards.set(suffix, [value, ...byWildcard(suffix.slice(1))])
    labelsMax = Math.max(labelsMax, suffix.split('.').length - 1)
  }
  for (const [host, value] of hosts)
    if (host !== undefined && !isWildcard(host)) names.set(host, [value, ...byWildcard(host)])

  return {
    valuesFor: (hostName) => names.get(hostName) ?? byWildcard(hostName),
    isNamed: (hostName) => names.has(hostName) || byWildcard(hostName) !== ofAny,
    isMisread: (hostName) => labelsMax > 0 && !usualName.test(hostName) && byWildcard(hostName) !== ofAny,
  }
}
