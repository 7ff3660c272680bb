import type { Quota, QuotaTake, QuotaWindow } from '#store/quotas.ts'

/** What this process knows of the quota of an account in one window. */
export interface Reservation extends QuotaWindow {
  readonly accountId: string
  readonly per: Quota['per']
  /** Of the plan, when the store was asked last. */
  limit: number
  /** Until when the window needs no other look, on the monotonic clock. */
  currentUntil: number
  /** How many may pass without asking the store. */
  left: number
  /** At which `left` more are asked for before any request has to wait; -1 = never. */
  refillAt: number
  /** How many have passed here. */
  passed: number
  /** How many of these the store does not know of. */
  uncounted: number
  /** When the store was asked last, on the monotonic clock, and what `passed` was then. */
  askedAt: number
  passedWhenAsked: number
  /** What `passed` was when it was last checked whether the reservation is in use. */
  passedWhenChecked: number
  /** Until when the store need not be asked, as the quota was used up; on the monotonic clock. */
  usedUpUntil: number
  isAsking: boolean
  /** Resolves once nothing is asked for any more. */
  settled: Promise<void>
  /** What the store may have counted or not: it is repeated before the next. */
  unanswered: QuotaTake | undefined
  isDropped: boolean
  waiting: ((result: QuotaResult) => void)[]
}

export interface QuotaResult {
  readonly isAllowed: boolean
  /** Until the next window begins. */
  readonly resetMs: number
}

/** How much is reserved where requests come fast: what passes in this time. */
const aheadMs = 2_000
/** At which share that is left more are asked for: it lasts longer than requests to the store wait for each other. */
const refillShare = 1 / 8
/** Below this many it is not worth it to ask before they are used. */
const refillMin = 8

export function newReservation(
  accountId: string,
  per: Quota['per'],
  { window, endsAt }: QuotaWindow,
): Reservation {
  return {
    accountId,
    per,
    window,
    endsAt,
    limit: 0,
    currentUntil: Number.NEGATIVE_INFINITY,
    left: 0,
    refillAt: -1,
    passed: 0,
    uncounted: 0,
    askedAt: Number.NEGATIVE_INFINITY,
    passedWhenAsked: 0,
    passedWhenChecked: 0,
    usedUpUntil: 0,
    isAsking: false,
    settled: Promise.resolve(),
    unanswered: undefined,
    isDropped: false,
    waiting: [],
  }
}

/**
 * How many requests are expected soon, by those since the store was asked last: at least one.
 * @param now on the monotonic clock
 */
export function expectedSoon({ askedAt, passed, passedWhenAsked }: Reservation, now: number): number {
  const elapsedMs = Math.max(1, now - askedAt)
  return Math.ceil(((passed - passedWhenAsked) * aheadMs) / elapsedMs) || 1
}

/** Adds what was granted. @param now on the monotonic clock */
export function addGranted(reservation: Reservation, granted: number, now: number): void {
  reservation.left += granted
  reservation.refillAt = reservation.left < refillMin ? -1 : Math.floor(reservation.left * refillShare)
  reservation.askedAt = now
  reservation.passedWhenAsked = reservation.passed
}
