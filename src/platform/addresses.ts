import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import { memoizeBounded, memoizeByObject } from './memoize.ts'

/** Each request needs the network of its client. Longer texts are not addresses. */
const memoizedAddresses = { entriesMax: 1_000, keyLengthMax: 64 }

/**
 * The client network that counts wherever something is limited by client address: an IPv4 address itself, or the /64 of
 * an IPv6 address, as one user usually has all of it (RFC 6177, RFC 8981). An IPv4 address in its IPv6 form (RFC 4291
 * 2.5.5.2) is treated as the IPv4 address. A zone (`%eth0`) is ignored.
 * @returns `203.0.113.7`, `2001:db8:0:1::/64`: at most 24 characters, the same for every spelling of an address; a text
 * that is not an address is returned unchanged
 */
export const clientNetwork: (address: string) => string = memoizeBounded(memoizedAddresses, (address) => {
  const plain = unmappedAddress(address)
  return isIPv6(plain) ? networkOf(plain, 64) : plain
})

/**
 * The network around a client network, for limits on unknown clients, as one customer of a provider can easily have
 * several addresses or /64 networks (RFC 6177: a site gets 56 bits or fewer).
 * @returns `203.0.113.0/24`, `2001:db8:0:1200::/56`; a text that is not an address is returned unchanged
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

/** The groups of 16 bits of an IPv6 address in any spelling of RFC 4291 2.2; of a dotted one only the first six. */
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

/** The addresses that share their first `bits` bits with `address`. */
export interface AddressRange {
  readonly address: string
  readonly bits: number
  readonly family: 'ipv4' | 'ipv6'
}

export interface AddressSet {
  /** Whether it contains an address; false for other text. */
  has(address: string): boolean
}

/** IPv4 addresses in their IPv6 form are ::ffff:0:0/96 (RFC 4291 2.5.5.2). */
const mappedBits = 96

/**
 * An address, or a range such as `10.0.0.0/8`; undefined if the text is neither. IPv4 in its IPv6 form becomes plain
 * IPv4, so that its bits count in the same way however a range is written.
 */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [, address = '', digits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  if (version === 0) return undefined
  const bitsMax = version === 4 ? 32 : 128
  const bits = digits === undefined ? bitsMax : Number(digits)
  if (bits > bitsMax) return undefined
  const plain = unmappedAddress(address)
  if (version === 6 && bits >= mappedBits && isIPv4(plain))
    return { address: plain, bits: bits - mappedBits, family: 'ipv4' }
  return { address, bits, family: version === 4 ? 'ipv4' : 'ipv6' }
}

/** Whether it contains all IPv4 addresses, like `0.0.0.0/0` and IPv6 ranges around their IPv6 form. */
export function hasEveryIPv4(range: AddressRange): boolean {
  const { has } = createAddressSet([range])
  return has('0.0.0.0') && has('255.255.255.255')
}

/** Whether an address is in a list of addresses and ranges, which is compiled once per list. */
export function isInRanges(ranges: readonly string[], address: string): boolean {
  return addressSetOf(ranges).has(address)
}

const addressSetOf = memoizeByObject((ranges: readonly string[]) =>
  createAddressSet(ranges.flatMap((text) => parseAddressRange(text) ?? [])),
)

export function createAddressSet(ranges: readonly AddressRange[]): AddressSet {
  if (ranges.length === 0) return { has: () => false }
  const list = new BlockList()
  const ofFamily = (family: AddressRange['family']) => ranges.filter((range) => range.family === family)
  for (const { address, bits } of ofFamily('ipv6')) list.addSubnet(address, bits, 'ipv6')
  // A narrower range of IPv4 in its IPv6 form has become one of IPv4 (parseAddressRange).
  const networks = list.check('0.0.0.0', 'ipv4') ? [{ mask: 0, network: 0 }] : []
  for (const { address, bits } of ofFamily('ipv4')) {
    list.addSubnet(address, bits, 'ipv4')
    const mask = bits === 0 ? 0 : -1 << (32 - bits)
    networks.push({ mask, network: (numberOfIPv4(address) ?? 0) & mask })
  }
  return {
    // Hot: a BlockList makes an object of each address, which takes ten times as long.
    has: (address) => {
      const number = numberOfIPv4(address)
      if (number !== undefined) return networks.some(({ mask, network }) => (number & mask) === network)
      return isIPv6(address) && list.check(address, 'ipv6')
    },
  }
}

const dot = 0x2e
const zero = 0x30

/** The 32 bits of an address in the dotted form that isIPv4 accepts; undefined for other text. */
function numberOfIPv4(address: string): number | undefined {
  let number = 0
  let part = 0
  let partStart = 0
  let dots = 0
  for (let at = 0; at <= address.length; at++) {
    const code = at === address.length ? dot : address.charCodeAt(at)
    if (code === dot) {
      if (at === partStart || dots++ > 3) return undefined
      number = (number << 8) | part
      part = 0
      partStart = at + 1
    } else {
      // Leading zeros would make it octal for some readers.
      if (code < zero || code > zero + 9 || (at > partStart && part === 0)) return undefined
      part = part * 10 + code - zero
      if (part > 255) return undefined
    }
  }
  return dots === 4 ? number : undefined
}

/** Normalizes a host: `LOCALHOST` and `127.0.0.1` are the same, and so are `::` and `0:0::0`. */
export function normalizeHost(host: string): string {
  if (host.toLowerCase() === 'localhost') return '127.0.0.1'
  const bare = withoutBrackets(host).toLowerCase()
  return isIPv6(bare) ? (URL.parse(`http://[${bare}]`)?.hostname.slice(1, -1) ?? bare) : bare
}

export function isLoopback(host: string): boolean {
  return /^(?:.+\.localhost|127\.\d+\.\d+\.\d+|::1)$/.test(normalizeHost(host))
}

/** Whether a host is the wildcard address (0.0.0.0 or ::). */
export function isWildcardAddress(host: string): boolean {
  return ['0.0.0.0', '::'].includes(normalizeHost(host))
}

// RFC 4291 2.5.5.2, in any spelling of 2.2: a proxy in front may not write it as Node does.
const mapped = /^[0:]+:ffff:(?:(?<dotted>\d+\.\d+\.\d+\.\d+)|(?<high>[\da-f]{1,4}):(?<low>[\da-f]{1,4}))$/i

/** The address; an IPv4 address in its IPv6 form as plain IPv4. */
export function unmappedAddress(address: string): string {
  const { dotted, high = '', low = '' } = mapped.exec(address)?.groups ?? {}
  if ((dotted === undefined && high === '') || !isIPv6(address)) return address
  return dotted ?? [...bytesOf(high), ...bytesOf(low)].join('.')
}

function bytesOf(group: string): readonly [high: number, low: number] {
  const value = Number.parseInt(group, 16)
  return [value >> 8, value & 0xff]
}

/** A host as in a URL, an IPv6 address without its brackets. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1')
}
