import { hash } from 'node:crypto'
import type { RateStore } from '../rates.ts'
import type { Connection } from './open-connection.ts'
import { loadScript } from './scripts.ts'

const takeFromRateScript = loadScript('take-from-rate')

const heartbeatScript = loadScript('heartbeat')

/** An instance without a heartbeat for this long counts as dead. */
const heartbeatTimeoutMs = 15_000

/** Rates that are counted across instances; losing counts in a failover does not matter. */
export function createRateStore({ keys, run }: Connection): RateStore {
  return {
    takeFromRate: async (purpose, subject, { limit, perMs }) => {
      // Hashed: addresses and names from outside must not get into keys as they are.
      const key = keys.rate(hash('sha256', `${purpose} ${subject}`, 'base64url'))
      const reply = await run(takeFromRateScript, [key], [limit, perMs])
      const [isAllowed, remaining, retryMs, resetMs] = Array.isArray(reply) ? reply.map(Number) : []
      return {
        isAllowed: isAllowed === 1,
        remaining: remaining ?? 0,
        retryMs: retryMs ?? 0,
        resetMs: resetMs ?? 0,
      }
    },
    heartbeat: async (instance) =>
      Number(await run(heartbeatScript, [keys.instances], [instance, heartbeatTimeoutMs])),
  }
}
