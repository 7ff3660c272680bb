import { knownRoles, similarRole } from '#accounts/account-input.ts'
import { adminRole } from '#store/account.ts'
import type { Warning } from '../problem.ts'
import type { ConfigTree } from '../schema/schema.ts'

/** A sign-in without a portal, and roles of accounts that are made at a sign-in which are probably not intended. */
export function findOidcProblems({ portal, routes }: Pick<ConfigTree, 'portal' | 'routes'>): Warning[] {
  const { oidc, enabled } = portal
  if (!oidc) return []
  if (!enabled) return [{ path: ['portal', 'oidc'], message: 'has no effect: portal.enabled is false' }]
  const role = oidc.provision
  const path = ['portal', 'oidc', 'provision']
  if (role === adminRole) {
    const message = 'makes everybody who can sign in at the provider an Admin, who manages all accounts'
    return [{ path, message }]
  }
  const similar = similarRole(role, [...knownRoles(routes), 'none'])
  return similar === undefined
    ? []
    : [{ path, message: `"${role}" is not "${similar}": it is case-sensitive` }]
}
