import { BlockList, isIP, isIPv6 } from 'node:net'
import { memoizeByObject } from './memoize.ts'

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

/** An address, or a range such as `10.0.0.0/8`; undefined if the text is neither. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [, address = '', digits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  if (version === 0) return undefined
  const bitsMax = version === 4 ? 32 : 128
  const bits = digits === undefined ? bitsMax : Number(digits)
  return bits <= bitsMax ? { address, bits, family: version === 4 ? 'ipv4' : 'ipv6' } : undefined
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
