import { randomUUID } from 'node:crypto'
import type { Clock } from '../platform/clock.ts'
import { dayOf, firstOfMonth, formatDay, startOfDay } from '../platform/day.ts'
import type { QuotaStore } from '../store/quotas.ts'

/** So many requests in each day or month of UTC. */
export interface Quota {
  readonly limit: number
  readonly per: 'day' | 'month'
}

export interface QuotaResult {
  readonly isAllowed: boolean
  /** Until the next window begins. */
  readonly resetMs: number
}

/** Counts the requests of accounts against quotas, across instances as long as the store is reachable. */
export interface Quotas {
  /** Takes one request. Synchronous while this process has some reserved, and while the store is unreachable. */
  take(accountId: string, quota: Quota): QuotaResult | Promise<QuotaResult>
  /** Gives back what is reserved. */
  close(): Promise<void>
}

export interface QuotasOptions {
  readonly store: QuotaStore
  readonly storeConnection: { readonly isUp: boolean }
  /** Milliseconds since 1970: windows are those of UTC. */
  readonly clock: Clock
  /** Monotonic. */
  readonly monotonic: Clock
  /** The number of processes last known. */
  processes(): number
}

/** What this process knows of the quota of an account in one window. */
interface Reservation {
  readonly accountId: string
  readonly per: Quota['per']
  /** The name of the window. */
  readonly window: string
  readonly endsAt: number
  /** How many may pass without asking the store. */
  left: number
  /** How many have passed here. */
  passed: number
  /** How many of these the store does not know of. */
  uncounted: number
  /** Until when the store need not be asked, as the quota was used up; on the monotonic clock. */
  usedUpUntil: number
  isAsking: boolean
  waiting: ((result: QuotaResult) => void)[]
}

/** How many accounts are kept, in some 30 MB; beyond that the one that was first used the longest ago is dropped. */
const reservationsMax = 100_000
/** How long a quota that was used up is not asked for again: a plan may be changed, or a reservation be given back. */
const usedUpMs = 1_000
const allowed: QuotaResult = { isAllowed: true, resetMs: 0 }

/**
 * Each process reserves some requests of a quota at once, and asks again when these are used (see takeOfQuota). While
 * the store is unreachable it allows its share: the limit divided by the number of processes last known, at least one,
 * less what has passed here in this window; the store is told of it later.
 */
export function openQuotas({ store, storeConnection, clock, monotonic, processes }: QuotasOptions): Quotas {
  const holder = randomUUID()
  const reservations = new Map<string, Reservation>()

  function take(accountId: string, { limit, per }: Quota): QuotaResult | Promise<QuotaResult> {
    const now = clock()
    const known = reservations.get(accountId)
    const current = known?.per === per && now < known.endsAt ? known : begin(accountId, per, now)
    if (current.left > 0) {
      current.left--
      current.passed++
      return allowed
    }
    if (!storeConnection.isUp) return takeShare(current, limit)
    if (current.usedUpUntil > 0 && monotonic() < current.usedUpUntil) return usedUp(current)
    const { promise, resolve } = Promise.withResolvers<QuotaResult>()
    current.waiting.push(resolve)
    if (!current.isAsking) void ask(current, limit)
    return promise
  }

  function begin(accountId: string, per: Quota['per'], now: number): Reservation {
    const replaced = reservations.get(accountId)
    if (replaced) drop(replaced)
    else if (reservations.size >= reservationsMax) dropFirst()
    const { window, endsAt } = windowOf(per, now)
    const begun: Reservation = {
      accountId,
      per,
      window,
      endsAt,
      left: 0,
      passed: 0,
      uncounted: 0,
      usedUpUntil: 0,
      isAsking: false,
      waiting: [],
    }
    reservations.set(accountId, begun)
    return begun
  }

  /** Asks for all that wait, until none does. */
  async function ask(reservation: Reservation, limit: number): Promise<void> {
    reservation.isAsking = true
    while (reservation.waiting.length > 0) await askOnce(reservation, limit)
    reservation.isAsking = false
  }

  async function askOnce(reservation: Reservation, limit: number): Promise<void> {
    const needed = reservation.waiting.length
    const granted = await request(reservation, { limit, needed })
    if (granted === undefined) {
      for (const answer of takeWaiting(reservation)) answer(takeShare(reservation, limit))
      return
    }
    if (granted < needed) reservation.usedUpUntil = monotonic() + usedUpMs
    reservation.left += granted
    const answered = granted < needed ? takeWaiting(reservation) : reservation.waiting.splice(0, needed)
    for (const answer of answered) answer(takeReserved(reservation))
  }

  /** @returns what is granted; undefined = the store could not answer */
  async function request(
    reservation: Reservation,
    { limit, needed }: { readonly limit: number; readonly needed: number },
  ): Promise<number | undefined> {
    const { accountId, window, endsAt, left: unused, uncounted } = reservation
    reservation.left = 0
    reservation.uncounted = 0
    try {
      const times = { now: clock(), endsAt }
      const take = {
        accountId,
        window,
        ...times,
        limit,
        holder,
        holders: processes(),
        needed,
        unused,
        uncounted,
      }
      return (await store.takeQuota(take)).granted
    } catch {
      reservation.uncounted += uncounted
      return undefined
    }
  }

  function takeReserved(reservation: Reservation): QuotaResult {
    if (reservation.left === 0) return usedUp(reservation)
    reservation.left--
    reservation.passed++
    return allowed
  }

  function takeShare(reservation: Reservation, limit: number): QuotaResult {
    if (reservation.passed >= Math.max(1, Math.floor(limit / processes()))) return usedUp(reservation)
    reservation.passed++
    reservation.uncounted++
    return allowed
  }

  function usedUp({ endsAt }: Reservation): QuotaResult {
    return { isAllowed: false, resetMs: endsAt - clock() }
  }

  function dropFirst(): void {
    const [first] = reservations.values()
    if (first) drop(first)
  }

  function drop(reservation: Reservation): void {
    reservations.delete(reservation.accountId)
    void giveBack(reservation)
  }

  async function giveBack(reservation: Reservation): Promise<void> {
    if (reservation.left === 0 && reservation.uncounted === 0) return
    await request(reservation, { limit: 0, needed: 0 })
  }

  return {
    take,
    close: async () => {
      if (storeConnection.isUp) await Promise.all([...reservations.values()].map(giveBack))
      reservations.clear()
    },
  }
}

function takeWaiting(reservation: Reservation): Reservation['waiting'] {
  const { waiting } = reservation
  reservation.waiting = []
  return waiting
}

function windowOf(per: Quota['per'], now: number): Pick<Reservation, 'window' | 'endsAt'> {
  const today = dayOf(now)
  return per === 'day'
    ? { window: formatDay(today), endsAt: startOfDay(today + 1) }
    : { window: formatDay(today).slice(0, 7), endsAt: startOfDay(firstOfMonth(today, 1)) }
}
