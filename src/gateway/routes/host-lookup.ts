// Hosts of routes: a name, a wildcard such as `*.example.com` for one or more labels, or undefined for any host.

export function isWildcard(host: string | undefined): host is string {
  return host?.startsWith('*.') === true
}

/** Whether every host that another one stands for is one of this too. */
function covers(host: string | undefined, other: string | undefined): boolean {
  if (host === undefined || host === other) return true
  return isWildcard(host) && other?.endsWith(host.slice(1)) === true
}

/** Whether there is a host that both stand for. */
export function hostsOverlap(one: string | undefined, other: string | undefined): boolean {
  return covers(one, other) || covers(other, one)
}

const usualName = /^[a-z0-9._-]*$/

export interface HostLookup<Value> {
  /** The values that apply to a host, in order: that of its name, of wildcards, the longest first, and of any host. */
  valuesFor(hostName: string): readonly Value[]
  /** Whether a host has a value of its own, or by a wildcard. */
  isNamed(hostName: string): boolean
  /**
   * Whether only a wildcard stands for a host with characters that are in no name: some servers take it for a list of
   * names.
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
