import { hash } from 'node:crypto'
import {
  holderGoneMs,
  holdersOf,
  type QuotaState,
  type QuotaStore,
  quotaKeptMs,
  quotaPercent,
  quotaSlack,
} from '../quotas.ts'
import type { RateStore } from '../rates.ts'
import type { Connection } from './open-connection.ts'
import { loadScript } from './scripts.ts'

const takeQuotaScript = loadScript('take-quota')

/** Quotas that are counted across instances; a failover may lose the last second. */
export function createQuotaStore({ keys, ask, run, confirmAbsence }: Connection): QuotaStore {
  return {
    takeQuota: async ({ subject, window, endsAt, limit, ...take }) => {
      const { now, holder, sequence, holders, needed, ahead, unused, kept, uncounted } = take
      const reply = await run(
        takeQuotaScript,
        [keys.quota(subject, window)],
        [
          limit,
          quotaSlack(limit),
          holder,
          holders,
          needed,
          unused,
          uncounted,
          endsAt + quotaKeptMs,
          sequence,
          ahead,
          kept,
          quotaPercent(limit),
          now,
          holderGoneMs,
        ],
      )
      const [granted = 0, grantedToAll = 0] = (reply as readonly unknown[]).map(Number)
      return { granted, grantedToAll }
    },
    readQuota: async (subject, window) => {
      const fields = await ask((client) => client.hgetall(keys.quota(subject, window)))
      if (fields.granted === undefined) await confirmAbsence()
      return toState(fields)
    },
  }
}

/** What the script writes. */
function toState({ granted = '0', ...holders }: Readonly<Record<string, string>>): QuotaState {
  const held = Object.entries(holders).map(([field, value]) => [
    field.slice('by '.length),
    value.split(' ').map(Number),
  ])
  return { granted: Number(granted), holders: holdersOf(Object.fromEntries(held)) }
}

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
