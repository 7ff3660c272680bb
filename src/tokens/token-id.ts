import { randomUUID } from 'node:crypto'

/** The epoch of an account whose role has never changed, and of a token that does not hold one. */
const firstRoleEpoch = 1
/** Hexadecimal digits of the epoch: 48 bits, the first two groups of a UUID. */
const epochDigits = 12
const form = /^([0-9a-f]{8})-([0-9a-f]{4})-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/**
 * The `jti` of an access token: a UUID of version 8 (RFC 9562 5.8), random but for its first 48 bits. These are the
 * epoch of the token's role: `iat` cannot show whether the token was issued before or after a change, as it is
 * in whole seconds and of another clock.
 */
export function createTokenId(roleEpoch: number): string {
  const epoch = roleEpoch.toString(16).padStart(epochDigits, '0')
  // What follows the epoch and the version.
  return `${epoch.slice(0, 8)}-${epoch.slice(8)}-8${randomUUID().slice(15)}`
}

/** The epoch in a `jti`; 1 without one: from before epochs existed, or from another issuer with the same key. */
export function roleEpochOf(tokenId: string): number {
  const [, high, low] = form.exec(tokenId) ?? []
  return high === undefined || low === undefined ? firstRoleEpoch : Number.parseInt(high + low, 16)
}
