// Not by name: Node replaces these functions when other name servers are set.
import dns from 'node:dns/promises'
import { BlockList, isIPv6 } from 'node:net'

/** After a name could not be resolved. */
const retryMs = 5_000

interface FollowedHostEvents {
  /** They are others than before. */
  onAddresses(addresses: readonly string[]): void
  /** The name stopped resolving: until it does again, the last addresses hold. */
  onFailure(error: unknown): void
}

/**
 * Resolves a host name again and again, whenever the TTL of its addresses is over.
 * @returns a function that stops it
 */
export function followHost(host: string, known: readonly string[], events: FollowedHostEvents): () => void {
  let addresses = known
  let isFailing = false
  let isStopped = false
  let timer: NodeJS.Timeout | undefined

  async function resolve(): Promise<void> {
    let waitMs = retryMs
    try {
      const resolution = await resolveHost(host, addresses)
      waitMs = resolution.ttlMs
      if (!isStopped) take(resolution)
    } catch (error) {
      if (!isFailing && !isStopped) events.onFailure(error)
      isFailing = true
    }
    if (!isStopped) timer = setTimeout(resolve, waitMs).unref()
  }

  function take({ addresses: next }: Resolution): void {
    isFailing = false
    if (next.join() === addresses.join()) return
    addresses = next
    events.onAddresses(next)
  }

  void resolve()
  return function stop() {
    isStopped = true
    clearTimeout(timer)
  }
}

/** What a host name stands for at the moment. */
interface Resolution {
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
