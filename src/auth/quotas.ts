import { randomUUID } from 'node:crypto'
import type { Clock } from '../platform/clock.ts'
import {
  type Quota,
  type QuotaStore,
  type QuotaTake,
  type QuotaWindow,
  quotaUsed,
  quotaWindow,
} from '../store/quotas.ts'

export interface QuotaResult {
  readonly isAllowed: boolean
  /** Until the next window begins. */
  readonly resetMs: number
}

/** Counts the requests of accounts against quotas, across instances as long as the store is reachable. */
export interface Quotas {
  /** Takes one request. Synchronous while this process has some reserved, and while the store is unreachable. */
  take(accountId: string, quota: Quota): QuotaResult | Promise<QuotaResult>
  /**
   * How many requests have passed in a window. What other processes have reserved counts as not used.
   * @throws GatehouseError `store-unavailable`
   */
  readUsed(accountId: string, window: string): Promise<number>
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
interface Reservation extends QuotaWindow {
  readonly accountId: string
  readonly per: Quota['per']
  /** How many may pass without asking the store. */
  left: number
  /** How many have passed here. */
  passed: number
  /** How many of these the store does not know of. */
  uncounted: number
  /** Until when the store need not be asked, as the quota was used up; on the monotonic clock. */
  usedUpUntil: number
  isAsking: boolean
  /** What the store may have counted or not: it is repeated before the next. */
  unanswered: QuotaTake | undefined
  isDropped: boolean
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
  let sequence = 0

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
    const { window, endsAt } = quotaWindow(per, now)
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
      unanswered: undefined,
      isDropped: false,
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
    if (reservation.isDropped) await giveBack(reservation)
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

  /**
   * A take whose response was lost may have been counted. It is repeated as it was, which counts it once, and what it
   * grants is given back: those who waited for it were answered without it.
   * @returns what is granted; undefined = the store could not answer
   */
  async function request(
    reservation: Reservation,
    wanted: { readonly limit: number; readonly needed: number },
  ): Promise<number | undefined> {
    try {
      if (reservation.unanswered) reservation.left += await send(reservation, reservation.unanswered)
      const { accountId, window, endsAt, left: unused, uncounted } = reservation
      reservation.left = 0
      reservation.uncounted = 0
      sequence++
      const asker = { holder, sequence, holders: processes() }
      const times = { window, endsAt, now: clock() }
      return await send(reservation, { accountId, ...times, ...asker, ...wanted, unused, uncounted })
    } catch {
      return undefined
    }
  }

  async function send(reservation: Reservation, wanted: QuotaTake): Promise<number> {
    reservation.unanswered = wanted
    const { granted } = await store.takeQuota(wanted)
    reservation.unanswered = undefined
    return granted
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
    reservation.isDropped = true
    if (!reservation.isAsking) void giveBack(reservation)
  }

  async function giveBack(reservation: Reservation): Promise<void> {
    const { left, uncounted, unanswered } = reservation
    if (left === 0 && uncounted === 0 && !unanswered) return
    await request(reservation, { limit: 0, needed: 0 })
  }

  async function readUsed(accountId: string, window: string): Promise<number> {
    const state = await store.readQuota(accountId, window)
    const own = reservations.get(accountId)
    if (own?.window !== window) return quotaUsed(state)
    return quotaUsed(state, { holder, left: own.left, uncounted: own.uncounted })
  }

  return {
    take,
    readUsed,
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
