import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import { memoizeByObject } from './memoize.ts'
import { unmappedAddress } from './unmapped-address.ts'

/** The addresses whose first `bits` are those of `address`. */
export interface AddressRange {
  readonly address: string
  readonly bits: number
  readonly family: 'ipv4' | 'ipv6'
}

export interface AddressSet {
  /** Whether it contains an address, which is not an IPv4 address in its IPv6 form. */
  has(address: string): boolean
}

/** IPv4 addresses in their IPv6 form are ::ffff:0:0/96 (RFC 4291 2.5.5.2). */
const mappedBits = 96

/**
 * An address, or a range such as `10.0.0.0/8`; undefined if the text is neither. IPv4 in its IPv6 form is plain IPv4, so
 * that bits count the same however a range is written.
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

/** Whether it has every IPv4 address, as `0.0.0.0/0` and IPv6 ranges around their IPv6 form do. */
export function hasEveryIPv4(range: AddressRange): boolean {
  const { has } = createAddressSet([range])
  return has('0.0.0.0') && has('255.255.255.255')
}

/** Whether an address is one of some addresses and ranges, which are compiled once for each list. */
export function isWithin(ranges: readonly string[], address: string): boolean {
  return addressSetOf(ranges).has(address)
}

const addressSetOf = memoizeByObject((ranges: readonly string[]) =>
  createAddressSet(ranges.flatMap((text) => parseAddressRange(text) ?? [])),
)

export function createAddressSet(ranges: readonly AddressRange[]): AddressSet {
  const list = new BlockList()
  for (const { address, bits, family } of ranges) list.addSubnet(address, bits, family)
  if (ranges.length === 0) return { has: () => false }
  return { has: (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4') }
}
