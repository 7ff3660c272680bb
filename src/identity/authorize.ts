import { isInRanges } from '#platform/addresses.ts'
import type { ErrorCode } from '#platform/errors/codes.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Access } from './access.ts'
import type { Principal } from './decision.ts'

/**
 * Why an authenticated caller is rejected; undefined = authorised.
 * @throws GatehouseError `store-unavailable` where the profile is needed and not known now
 */
export function authorize(
  access: Access,
  principal: Pick<Principal, 'role' | 'scopes' | 'issuer' | 'profile'> | undefined,
): ErrorCode | undefined {
  if (access.kind === 'public' || principal === undefined) return undefined
  if (access.roles && !access.roles.has(principal.role)) return 'role-forbidden'
  if (!isWithinScopes(access.scopes, principal)) return 'scope-forbidden'
  if (!access.verifiedOnly) return undefined
  if (!principal.profile) throw new GatehouseError('store-unavailable')
  return principal.profile.isVerified ? undefined : 'account-unverified'
}

/**
 * A key or token with scopes is admitted only if the route names scopes, and it has all of these; one without scopes is
 * not limited. A token of a foreign issuer that names no scopes, however, was granted none.
 */
function isWithinScopes(
  required: readonly string[] | undefined,
  { scopes, issuer }: Pick<Principal, 'scopes' | 'issuer'>,
): boolean {
  if (scopes.length === 0) return issuer === undefined || required === undefined
  return required?.every((scope) => scopes.includes(scope)) === true
}

/** Whether a principal or a key may be used from a client address. */
export function isFromAllowedAddress({ addresses }: Pick<Principal, 'addresses'>, address: string): boolean {
  return addresses.length === 0 || isInRanges(addresses, address)
}

/** As `authorize`, for a caller from a client address, which is checked first. */
export function authorizeFrom(
  address: string,
  access: Access,
  principal: Principal | undefined,
): ErrorCode | undefined {
  if (principal !== undefined && !isFromAllowedAddress(principal, address)) return 'address-forbidden'
  return authorize(access, principal)
}
