import { randomUUID } from 'node:crypto'
import type { Clock } from '#platform/clock.ts'
import type { QuotaStore, QuotaTake } from '#store/quotas.ts'
import { addGranted, type Reservation } from './quota-reservation.ts'

export interface QuotaExchangeOptions {
  readonly store: Pick<QuotaStore, 'takeQuota'>
  /** Milliseconds since 1970. */
  readonly clock: Clock
  readonly monotonic: Clock
  /** The number of processes last known. */
  processes(): number
}

/** What a process asks the store for, one request at a time for each reservation. */
export function createQuotaExchange({ store, clock, monotonic, processes }: QuotaExchangeOptions) {
  const holder = randomUUID()
  let sequence = 0

  /**
   * A take whose response was lost may have been counted. It is repeated as it was, which counts it once, and what it
   * grants is given back or kept: those who waited for it were answered without it.
   * @param wanted `kept`: how many of those that are left may pass meanwhile; the others are given back
   * @returns what is granted; undefined = the store could not answer
   */
  async function request(
    reservation: Reservation,
    wanted: Pick<QuotaTake, 'needed' | 'ahead' | 'kept'>,
  ): Promise<number | undefined> {
    try {
      if (reservation.unanswered) {
        const owed = await send(reservation, reservation.unanswered)
        // Only now: requests may have passed meanwhile.
        reservation.left += owed
      }
      const granted = await send(reservation, nextTake(reservation, wanted))
      addGranted(reservation, granted, monotonic())
      return granted
    } catch {
      return undefined
    }
  }

  function nextTake(
    reservation: Reservation,
    { needed, ahead, kept }: Pick<QuotaTake, 'needed' | 'ahead' | 'kept'>,
  ): QuotaTake {
    const { accountId, window, endsAt, limit, uncounted } = reservation
    const keeps = Math.min(kept, reservation.left)
    const unused = reservation.left - keeps
    reservation.left = keeps
    reservation.uncounted = 0
    sequence++
    return {
      ...{ accountId, window, endsAt, now: clock(), limit },
      ...{ holder, sequence, holders: processes() },
      ...{ needed, ahead, unused, kept: keeps, uncounted },
    }
  }

  async function send(reservation: Reservation, wanted: QuotaTake): Promise<number> {
    reservation.unanswered = wanted
    const { granted } = await store.takeQuota(wanted)
    reservation.unanswered = undefined
    return granted
  }

  return { holder, request }
}
