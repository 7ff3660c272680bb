import { adminRole } from '../../store/account.ts'
import type { Warning } from '../problem.ts'
import type { ConfigTree } from '../schema/schema.ts'

/** Issuers whose users are Admins without anything in their tokens that says so. */
export function findAdminsByDefault({ issuers }: Pick<ConfigTree, 'issuers'>): Warning[] {
  return [...issuers.entries()]
    .filter(([, { role }]) => role.default === adminRole)
    .map(([index, { name }]) => ({
      path: ['issuers', index, 'role', 'default'],
      message: `makes everybody who gets a token of issuer "${name}" an Admin, who manages all accounts`,
      hint: 'name Admins in role.map',
    }))
}
