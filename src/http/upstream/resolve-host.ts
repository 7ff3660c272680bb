// The functions are not imported by name, as Node replaces them when other name servers are set.
import dns from 'node:dns/promises'
import { BlockList, isIPv6 } from 'node:net'

/** How long to wait after a name could not be resolved. */
const retryMs = 5_000

interface FollowedHostEvents {
  /** The addresses have changed. */
  onAddresses(addresses: readonly string[]): void
  /** The name stopped resolving: until it does again, the last addresses stay valid. */
  onFailure(error: unknown): void
}

/**
 * Resolves a host name, and again whenever the TTL of its addresses has expired.
 * @param known the last known addresses, if any
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
  /** How long they are valid. */
  readonly ttlMs: number
}

/** More than any service has. A name server that returns more, by mistake or malice, must not fill the memory. */
export const addressesMax = 64
/** A shorter TTL is treated as this one. */
const ttlMinMs = 1_000
const ttlMaxMs = 3_600_000
/** For names that only the system knows, such as those in /etc/hosts. */
const systemTtlMs = 10_000

/** Addresses that no server can have; connecting to the unspecified one would reach this machine. */
const unusable = new BlockList()
unusable.addSubnet('0.0.0.0', 8)
unusable.addSubnet('224.0.0.0', 4)
unusable.addAddress('255.255.255.255')
unusable.addAddress('::', 'ipv6')
unusable.addSubnet('ff00::', 8, 'ipv6')

/**
 * All addresses of a host: from its name servers, with their TTL, or else from the system's resolver.
 * @param before the last known addresses. Those of a family (IPv4 or IPv6) whose query fails now are kept.
 * @throws if there are none, with the reason
 */
export async function resolveHost(host: string, before: readonly string[]): Promise<Resolution> {
  const options = { ttl: true } as const
  const [four, six] = await Promise.allSettled([dns.resolve4(host, options), dns.resolve6(host, options)])
  const records = [four, six].flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
  const kept = before.filter((address) => isUnanswered(isIPv6(address) ? six : four))
  const found = usable([...records.map(({ address }) => address), ...kept])
  if (records.length > 0 && found.length > 0)
    return { addresses: found, ttlMs: clampTtl(Math.min(...records.map(({ ttl }) => ttl * 1_000))) }
  const fromSystem = usable((await dns.lookup(host, { all: true })).map(({ address }) => address))
  if (fromSystem.length === 0) throw new Error(`${host} has no address that a server could have`)
  return { addresses: fromSystem, ttlMs: systemTtlMs }
}

/** Whether a query failed and so says nothing. "No such record" is an answer. */
function isUnanswered(result: PromiseSettledResult<unknown>): boolean {
  if (result.status === 'fulfilled') return false
  const { code } = result.reason as { readonly code?: unknown }
  return code !== 'ENODATA' && code !== 'ENOTFOUND'
}

function usable(addresses: readonly string[]): readonly string[] {
  const servers = addresses.filter((address) => !unusable.check(address, isIPv6(address) ? 'ipv6' : 'ipv4'))
  return [...new Set(servers)].toSorted().slice(0, addressesMax)
}

function clampTtl(ttlMs: number): number {
  return Math.min(Math.max(ttlMs, ttlMinMs), ttlMaxMs)
}
