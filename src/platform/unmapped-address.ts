import { isIPv6 } from 'node:net'

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
