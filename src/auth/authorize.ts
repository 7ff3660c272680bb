import type { Code } from '../errors.ts'
import type { Access } from '../routes/route.ts'
import type { Principal } from './principal.ts'

/** Why a caller who is known may still not pass; undefined = may pass. */
export function authorize(access: Access, principal: Principal | undefined): Code | undefined {
  if (access.kind === 'public' || principal === undefined) return undefined
  if (access.roles && !access.roles.has(principal.role)) return 'role-forbidden'
  return access.verifiedOnly && !principal.isVerified ? 'account-unverified' : undefined
}
