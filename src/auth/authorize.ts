import type { ErrorCode } from '../errors/codes.ts'
import { GatehouseError } from '../errors/gatehouse-error.ts'
import type { Access } from '../routes/route.ts'
import type { Principal } from './principal.ts'

/**
 * Why an authenticated caller is rejected; undefined = authorised.
 * @throws GatehouseError `store-unavailable` where the profile is needed and not known now
 */
export function authorize(access: Access, principal: Principal | undefined): ErrorCode | undefined {
  if (access.kind === 'public' || principal === undefined) return undefined
  if (access.roles && !access.roles.has(principal.role)) return 'role-forbidden'
  if (!access.verifiedOnly) return undefined
  if (!principal.profile) throw new GatehouseError('store-unavailable')
  return principal.profile.isVerified ? undefined : 'account-unverified'
}
