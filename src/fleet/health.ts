import type { StoreHealth } from '../cache/store-connection-state.ts'

/**
 * The health of all workers together. A worker started while the store is unreachable has no accounts; as long as
 * another worker does, requests are served: `degraded`.
 */
export function mergeHealth(healths: readonly StoreHealth[]): StoreHealth {
  const [first, ...others] = healths
  if (first === undefined) return 'store-unavailable'
  return others.every((health) => health === first) ? first : 'degraded'
}
