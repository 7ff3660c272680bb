import { adminRole, defaultRole } from './account-input.ts'

/** The known roles: the two of the gateway, and those that routes name. In alphabetical order. */
export function knownRoles(
  routes: readonly { readonly roles?: readonly string[] | undefined }[],
): readonly string[] {
  return [...new Set([adminRole, defaultRole, ...routes.flatMap(({ roles }) => roles ?? [])])].sort()
}

/**
 * The known role that differs from this one only in case: routes compare roles exactly, so an account with the wrong
 * case is rejected without any error in the config. undefined where the role itself is known, or none is similar.
 */
export function similarRole(role: string, known: readonly string[]): string | undefined {
  if (known.includes(role)) return undefined
  return known.find((other) => other.toLowerCase() === role.toLowerCase())
}
