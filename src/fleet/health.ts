import type { IdentityHealth } from '../identity.ts'

/**
 * What workers can do together. One that has just been started while the store is out of reach knows nobody;
 * as long as another does, requests are served: `degraded`.
 */
export function healthOfAll(healths: readonly IdentityHealth[]): IdentityHealth {
  const [first, ...others] = healths
  if (first === undefined) return 'store-unavailable'
  return others.every((health) => health === first) ? first : 'degraded'
}
