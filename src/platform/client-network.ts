import { isIPv4, isIPv6 } from 'node:net'
import { memoizeBounded } from './memoize.ts'
import { unmappedAddress } from './unmapped-address.ts'

/** Each request asks for the network of its client. Longer texts are not addresses. */
const memoizedAddresses = { entriesMax: 1_000, keyLengthMax: 64 }

/**
 * What a client is counted as wherever something is counted by client address: an IPv4 address as it is, an IPv6
 * address as its network of 64 bits, since one user usually has all of such a network (RFC 6177, RFC 8981). An IPv4
 * address in its IPv6 form (RFC 4291 2.5.5.2) is the IPv4 address. A zone (`%eth0`) does not count.
 * @returns `203.0.113.7`, `2001:db8:0:1::/64`: at most 24 characters, the same for every spelling of an address; a text
 *   that is not an address unchanged
 */
export const clientNetwork: (address: string) => string = memoizeBounded(memoizedAddresses, (address) => {
  const plain = unmappedAddress(address)
  return isIPv6(plain) ? networkOf(plain, 64) : plain
})

/**
 * The network around a client network, for limits on unknown clients: one customer of a provider can easily have
 * several addresses, or several networks of 64 bits (RFC 6177: a site gets 56 bits or fewer).
 * @returns `203.0.113.0/24`, `2001:db8:0:1200::/56`; a text that is not an address unchanged
 */
export function widerNetwork(address: string): string {
  const plain = unmappedAddress(address)
  if (isIPv4(plain)) return `${plain.slice(0, plain.lastIndexOf('.'))}.0/24`
  return isIPv6(plain) ? networkOf(plain, 56) : plain
}

function networkOf(address: string, bits: 56 | 64): string {
  const [first = 0, second = 0, third = 0, fourth = 0] = groupsOf(address)
  const last = bits === 64 ? fourth : fourth & 0xff_00
  return `${[first, second, third, last].map((group) => group.toString(16)).join(':')}::/${bits}`
}

const groupsInAddress = 8

/** The groups of 16 bits of an IPv6 address in any spelling of RFC 4291 2.2; only the first six, of a dotted one. */
function groupsOf(address: string): readonly number[] {
  const [head = '', tail = ''] = address.replace(/%.*/s, '').split('::')
  const start = parseGroups(head)
  const end = parseGroups(tail)
  const omitted = Math.max(0, groupsInAddress - start.length - end.length)
  return [...start, ...Array.from({ length: omitted }, () => 0), ...end]
}

function parseGroups(text: string): readonly number[] {
  if (text === '') return []
  // Four bytes with dots stand for two groups, which are beyond every network.
  return text.split(':').flatMap((group) => (group.includes('.') ? [0, 0] : [Number.parseInt(group, 16)]))
}
