import { monotonicClock } from '#platform/clock.ts'
import { createLocalRates } from '../local-rates.ts'
import type { RateStore } from '../rates.ts'

/** Counted in this process: there is no other instance. */
export function createRates(): RateStore {
  const rates = createLocalRates(monotonicClock)
  return {
    takeFromRate: rates.take,
    heartbeat: async () => 1,
  }
}
