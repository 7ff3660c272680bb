// Not by name: Node replaces these functions when other name servers are set.
import dns from 'node:dns/promises'
import { BlockList, isIPv6 } from 'node:net'

/** What a host name stands for at the moment. */
export interface Resolution {
  /** IPv4 and IPv6, sorted, each once; never empty. */
  readonly addresses: readonly string[]
  /** How long they hold. */
  readonly ttlMs: number
}

/** More than any service has; a name server that says more, in error or malice, must not fill the memory. */
export const addressesMax = 64
/** Records of less are asked for no more often. */
const ttlMinMs = 1_000
const ttlMaxMs = 3_600_000
/** For names that only the system knows, such as those in /etc/hosts. */
const systemTtlMs = 10_000

/** Addresses that are no server's: a connection to the unspecified one goes to this machine. */
const nobody = new BlockList()
nobody.addSubnet('0.0.0.0', 8)
nobody.addSubnet('224.0.0.0', 4)
nobody.addAddress('255.255.255.255')
nobody.addAddress('::', 'ipv6')
nobody.addSubnet('ff00::', 8, 'ipv6')

/**
 * All addresses of a host: of name servers, with their TTL, or else of the system.
 * @param before the addresses of before: of a family that cannot be asked for now they still hold
 * @throws why there are none
 */
export async function resolveHost(host: string, before: readonly string[]): Promise<Resolution> {
  const options = { ttl: true } as const
  const [four, six] = await Promise.allSettled([dns.resolve4(host, options), dns.resolve6(host, options)])
  const records = [four, six].flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
  const kept = before.filter((address) => isUnknown(isIPv6(address) ? six : four))
  const found = usable([...records.map(({ address }) => address), ...kept])
  if (records.length > 0 && found.length > 0)
    return { addresses: found, ttlMs: clampTtl(Math.min(...records.map(({ ttl }) => ttl * 1_000))) }
  const ofSystem = usable((await dns.lookup(host, { all: true })).map(({ address }) => address))
  if (ofSystem.length === 0) throw new Error(`${host} has no address that a server could have`)
  return { addresses: ofSystem, ttlMs: systemTtlMs }
}

/** "No such record" is an answer; a failed query is not. */
function isUnknown(result: PromiseSettledResult<unknown>): boolean {
  if (result.status === 'fulfilled') return false
  const { code } = result.reason as { readonly code?: unknown }
  return code !== 'ENODATA' && code !== 'ENOTFOUND'
}

function usable(addresses: readonly string[]): readonly string[] {
  const servers = addresses.filter((address) => !nobody.check(address, isIPv6(address) ? 'ipv6' : 'ipv4'))
  return [...new Set(servers)].toSorted().slice(0, addressesMax)
}

function clampTtl(ttlMs: number): number {
  return Math.min(Math.max(ttlMs, ttlMinMs), ttlMaxMs)
}
