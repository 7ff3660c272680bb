import { type Account, adminRole } from '#store/accounts.ts'

/** Who needs a second factor to use the portal. */
export const secondFactorPolicies = ['nobody', 'admins', 'everybody'] as const

export type SecondFactorPolicy = (typeof secondFactorPolicies)[number]

/**
 * Whether an account has to set up a second factor before it may do anything else in the portal. People without a
 * password sign in at a provider, which may ask for one itself.
 */
export function needsSecondFactor({ role, portal }: Account, policy: SecondFactorPolicy): boolean {
  if (policy === 'nobody' || portal.password === undefined || portal.secondFactor !== undefined) return false
  return policy === 'everybody' || role === adminRole
}
