import { adminRole, knownRoles, similarRole } from '../../accounts/account-input.ts'
import type { Warning } from '../problem.ts'
import type { ConfigTree } from '../schema/schema.ts'

/** Roles of accounts that are made at a sign-in which are probably not intended. */
export function findProvisionProblems({ portal, routes }: Pick<ConfigTree, 'portal' | 'routes'>): Warning[] {
  const role = portal.oidc?.provision
  const path = ['portal', 'oidc', 'provision']
  if (role === undefined) return []
  if (role === adminRole) {
    const message = 'makes everybody who can sign in at the provider an Admin, who manages all accounts'
    return [{ path, message }]
  }
  const similar = similarRole(role, [...knownRoles(routes), 'none'])
  return similar === undefined
    ? []
    : [{ path, message: `"${role}" is not "${similar}": it is case-sensitive` }]
}
