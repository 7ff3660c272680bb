import { isIP } from 'node:net'
import type { AddressRange } from '../proxy/client.ts'

/** `10.0.0.0/8`, `fd00::/8`, or one address; undefined if the text is neither. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [, address = '', digits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  if (version === 0) return undefined
  const bitsMax = version === 4 ? 32 : 128
  const bits = digits === undefined ? bitsMax : Number(digits)
  return bits <= bitsMax ? { address, bits, family: version === 4 ? 'ipv4' : 'ipv6' } : undefined
}
