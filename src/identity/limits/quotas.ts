import type { EpochMs, MonotonicMs } from '#platform/time.ts'
import { type Quota, type QuotaStore, quotaUsed, quotaWindow } from '#store/quotas.ts'
import { type IdleReservationsOptions, openIdleReservations } from './idle-reservations.ts'
import {
  addPassed,
  createQuotaRequests,
  expectedSoon,
  hasToAsk,
  type QuotaRequestsOptions,
  type QuotaResult,
  Reservation,
} from './quota-reservation.ts'

/** Counts requests against quotas, across instances as long as the store is reachable. */
export interface Quotas {
  /**
   * Takes one request. Synchronous while this process has some reserved, and while the store is unreachable.
   * @param now the time of the request
   */
  take(subject: string, quota: Quota, now: MonotonicMs): QuotaResult | Promise<QuotaResult>
  /**
   * Counts what a request has cost beyond the one that was taken for it, which may be more than is left.
   * @param more from -1, which undoes the take
   */
  charge(subject: string, quota: Quota, more: number): void
  /**
   * How many requests have passed in a window. What other processes have reserved counts as unused.
   * @throws GatehouseError `store-unavailable`
   */
  readUsed(subject: string, window: string): Promise<number>
  /** Gives back all reservations. */
  close(): Promise<void>
}

interface QuotasOptions
  extends Omit<QuotaRequestsOptions, 'store'>,
    Pick<IdleReservationsOptions, 'storeConnection'> {
  readonly store: QuotaStore
  /** Called each time that the store was asked, which is often where little is left. */
  onAsked?(quota: AskedQuota, readUsed: Quotas['readUsed']): unknown
}

/** What was asked for: a quota in one window. */
type AskedQuota = Pick<Reservation, 'subject' | 'window' | 'endsAt' | 'limit' | 'per'>

/** How many subjects are kept, in about 40 MB; beyond that, the oldest one is dropped. */
const reservationsMax = 100_000
/**
 * After how long the store is asked again about a used-up quota: a plan may be changed, or a reservation given back.
 */
const usedUpMs = 1_000
/** How often it is checked whether a window is still the current one, as the system's clock may be set. */
const windowCheckMs = 1_000
/** How long a reservation that runs low waits for others, so that those of all subjects become one write. */
const refillDelayMs = 100

/**
 * Each process reserves some requests of a quota at once, and asks for more when most are used (see takeOfQuota). While
 * the store is unreachable it allows its share: the limit divided by the last known number of processes, at least one,
 * less what has passed here in this window. The store is told of it later.
 */
export function openQuotas(options: QuotasOptions): Quotas {
  const { store, storeConnection, clock, monotonic, processes, onAsked } = options
  const { holder, request } = createQuotaRequests(options)
  const reservations = new Map<string, Reservation>()
  const idle = openIdleReservations({ reservations, storeConnection, processes, giveBack: startGiveBack })
  let low: Reservation[] = []

  function take(subject: string, quota: Quota, now: MonotonicMs): QuotaResult | Promise<QuotaResult> {
    const known = reservations.get(subject)
    if (known !== undefined && now < known.currentUntil && known.per === quota.per && known.left > 0)
      return takeOne(known, quota.limit)
    // Before refusing anybody, the clock is read again: the next window may have begun.
    const current = currentReservation(subject, quota.per, now)
    if (current.left > 0) return takeOne(current, quota.limit)
    if (!storeConnection.isUp) return takeShare(current, quota.limit)
    if (current.usedUpUntil > 0 && monotonic() < current.usedUpUntil) return usedUp(current)
    const { promise, resolve } = Promise.withResolvers<QuotaResult>()
    current.waiting.push(resolve)
    current.limit = quota.limit
    if (!current.isAsking) current.settled = ask(current)
    return promise
  }

  function takeOne(reservation: Reservation, limit: number): QuotaResult {
    reservation.left--
    reservation.passed++
    if (reservation.left === reservation.refillAt) refillSoon(reservation, limit)
    return resultOf(reservation, limit, true)
  }

  function charge(subject: string, { limit, per }: Quota, more: number): void {
    const current = currentReservation(subject, per, monotonic())
    addPassed(current, more)
    if (hasToAsk(current)) refillSoon(current, limit)
  }

  function currentReservation(subject: string, per: Quota['per'], now: MonotonicMs): Reservation {
    const time = clock()
    const known = reservations.get(subject)
    const current = known?.per === per && isWithin(known, time) ? known : begin(subject, per, time)
    current.currentUntil = now + Math.min(windowCheckMs, current.endsAt - time)
    return current
  }

  function begin(subject: string, per: Quota['per'], time: EpochMs): Reservation {
    const replaced = reservations.get(subject)
    if (replaced) drop(replaced)
    else if (reservations.size >= reservationsMax) dropFirst()
    const begun = new Reservation(subject, per, quotaWindow(per, time))
    reservations.set(subject, begun)
    return begun
  }

  function refillSoon(reservation: Reservation, limit: number): void {
    reservation.limit = limit
    if (low.push(reservation) === 1) setTimeout(refillLow, refillDelayMs).unref()
  }

  function refillLow(): void {
    const refilled = low
    low = []
    if (!storeConnection.isUp) return
    for (const reservation of refilled) {
      const { isAsking, isDropped } = reservation
      if (hasToAsk(reservation) && !isAsking && !isDropped) reservation.settled = refill(reservation)
    }
  }

  async function refill(reservation: Reservation): Promise<void> {
    reservation.isAsking = true
    const ahead = expectedSoon(reservation, monotonic())
    await request(reservation, { needed: 0, ahead, kept: reservation.left })
    onAsked?.(reservation, readUsed)
    await ask(reservation)
  }

  /** Asks the store until nobody is waiting. */
  async function ask(reservation: Reservation): Promise<void> {
    reservation.isAsking = true
    while (reservation.waiting.length > 0) await askOnce(reservation)
    reservation.isAsking = false
    if (reservation.isDropped) await giveBack(reservation)
    else idle.watch(reservation)
    // Units may have been charged meanwhile.
    if (reservation.uncounted > 0) refillSoon(reservation, reservation.limit)
  }

  async function askOnce(reservation: Reservation): Promise<void> {
    const { waiting } = reservation
    // A refill may have granted some in the meantime.
    for (const answer of waiting.splice(0, reservation.left)) answer(takeReserved(reservation))
    const needed = waiting.length
    if (needed === 0) return
    const ahead = expectedSoon(reservation, monotonic())
    const granted = await request(reservation, { needed, ahead, kept: 0 })
    if (granted === undefined) {
      for (const answer of waiting.splice(0)) answer(takeShare(reservation, reservation.limit))
      return
    }
    if (granted < needed) reservation.usedUpUntil = monotonic() + usedUpMs
    for (const answer of waiting.splice(0, granted < needed ? waiting.length : needed))
      answer(takeReserved(reservation))
    onAsked?.(reservation, readUsed)
  }

  function takeReserved(reservation: Reservation): QuotaResult {
    if (reservation.left === 0) return usedUp(reservation)
    reservation.left--
    reservation.passed++
    return resultOf(reservation, reservation.limit, true)
  }

  function takeShare(reservation: Reservation, limit: number): QuotaResult {
    if (reservation.passed >= Math.max(1, Math.floor(limit / processes()))) return usedUp(reservation)
    reservation.passed++
    reservation.uncounted++
    return resultOf(reservation, limit, true)
  }

  function usedUp(reservation: Reservation): QuotaResult {
    return resultOf(reservation, reservation.limit, false)
  }

  function resultOf(reservation: Reservation, limit: number, isAllowed: boolean): QuotaResult {
    const { granted, left, uncounted, windowMs, endsAt } = reservation
    const remaining = isAllowed ? Math.max(0, limit - granted - uncounted + left) : 0
    return { isAllowed, remaining, windowMs, resetMs: endsAt - clock() }
  }

  function dropFirst(): void {
    const [first] = reservations.values()
    if (first) drop(first)
  }

  function drop(reservation: Reservation): void {
    reservations.delete(reservation.subject)
    reservation.isDropped = true
    if (!reservation.isAsking) void giveBack(reservation)
  }

  function startGiveBack(reservation: Reservation): void {
    if (!reservation.isAsking) reservation.settled = giveBackAndAsk(reservation)
  }

  /** Requests that arrive in the meantime wait for it. */
  async function giveBackAndAsk(reservation: Reservation): Promise<void> {
    reservation.isAsking = true
    await giveBack(reservation)
    await ask(reservation)
  }

  async function giveBack(reservation: Reservation): Promise<void> {
    const { left, uncounted, unanswered } = reservation
    if (left === 0 && uncounted === 0 && !unanswered) return
    await request(reservation, { needed: 0, ahead: 0, kept: 0 })
  }

  /** A pending request is answered first: otherwise it would be repeated, and counted twice. */
  async function giveBackLast(reservation: Reservation): Promise<void> {
    await reservation.settled
    await giveBack(reservation)
  }

  async function readUsed(subject: string, window: string): Promise<number> {
    const state = await store.readQuota(subject, window)
    const own = reservations.get(subject)
    if (own?.window !== window) return quotaUsed(state)
    return quotaUsed(state, { holder, left: own.left, uncounted: own.uncounted })
  }

  return {
    take,
    charge,
    readUsed,
    close: async () => {
      idle.close()
      low = []
      if (storeConnection.isUp) await Promise.all([...reservations.values()].map(giveBackLast))
      reservations.clear()
    },
  }
}

/** A clock that was ahead may have been set back to before the window. */
function isWithin({ endsAt, windowMs }: Reservation, time: EpochMs): boolean {
  return time < endsAt && time >= endsAt - windowMs
}
