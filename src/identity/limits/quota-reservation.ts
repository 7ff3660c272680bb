import { randomUUID } from 'node:crypto'
import type { Clock, EpochMs, MonotonicClock, MonotonicMs } from '#platform/time.ts'
import type { Quota, QuotaStore, QuotaTake, QuotaWindow } from '#store/quotas.ts'

/** What this process knows about a subject's quota in one window. */
export class Reservation implements QuotaWindow {
  readonly subject: string
  readonly per: Quota['per']
  readonly window: string
  readonly endsAt: EpochMs
  readonly windowMs: number
  /** The limit, when the store was last asked. */
  limit = 0
  /** How many were granted to all processes together, when the store was last asked. */
  granted = 0
  /** Until when the window need not be checked again. */
  currentUntil: MonotonicMs = Number.NEGATIVE_INFINITY
  /** How many may pass without asking the store. */
  left = 0
  /** At this value of `left` more are requested, before any client has to wait; -1 = never. */
  refillAt = -1
  /** How many have passed here. */
  passed = 0
  /** How many of these the store has not been told of. */
  uncounted = 0
  /** When the store was asked last, and what `passed` was then. */
  askedAt: MonotonicMs = Number.NEGATIVE_INFINITY
  passedWhenAsked = 0
  /** The value of `passed` when it was last checked whether the reservation is in use. */
  passedWhenChecked = 0
  /** Until when the store is not asked, because the quota was used up. */
  usedUpUntil: MonotonicMs = 0
  isAsking = false
  /** Resolves once no request to the store is pending. */
  settled: Promise<void> = Promise.resolve()
  /** A take that the store may or may not have counted: it is repeated before the next. */
  unanswered: QuotaTake | undefined = undefined
  isDropped = false
  waiting: ((result: QuotaResult) => void)[] = []

  constructor(subject: string, per: Quota['per'], { window, endsAt, windowMs }: QuotaWindow) {
    this.subject = subject
    this.per = per
    this.window = window
    this.endsAt = endsAt
    this.windowMs = windowMs
  }
}

export interface QuotaResult {
  readonly isAllowed: boolean
  /** How many requests are left, as far as this process knows: what others have reserved counts as used. */
  readonly remaining: number
  readonly windowMs: number
  /** Until the next window begins. */
  readonly resetMs: number
}

/** How far ahead a busy subject reserves: as many as pass in this time. */
const aheadMs = 2_000
/** The remaining share at which more are requested: enough to last until the store has answered. */
const refillShare = 1 / 8
/** Below this many, requesting ahead is not worth it. */
const refillMin = 8

/** The number of requests expected soon, given those since the store was last asked: at least one. */
export function expectedSoon({ askedAt, passed, passedWhenAsked }: Reservation, now: MonotonicMs): number {
  const elapsedMs = Math.max(1, now - askedAt)
  return Math.ceil(((passed - passedWhenAsked) * aheadMs) / elapsedMs) || 1
}

/**
 * Counts so many more requests as passed, or one less. They use up what is left; the store has yet to be told of those
 * beyond it (`uncounted`).
 */
export function addPassed(reservation: Reservation, more: number): void {
  // In a window that has just begun nothing has passed that could be given back.
  if (more < 0 && reservation.passed === 0) return
  const debt = reservation.uncounted + more - reservation.left
  reservation.passed += more
  reservation.uncounted = Math.max(0, debt)
  reservation.left = Math.max(0, -debt)
}

/** Whether little is left, or the store has to be told of something. */
export function hasToAsk({ left, refillAt, uncounted }: Reservation): boolean {
  return left <= refillAt || uncounted > 0
}

/** Adds what was granted. */
function addGranted(reservation: Reservation, granted: number, now: MonotonicMs): void {
  reservation.left += granted
  reservation.refillAt = reservation.left < refillMin ? -1 : Math.floor(reservation.left * refillShare)
  reservation.askedAt = now
  reservation.passedWhenAsked = reservation.passed
}

export interface QuotaRequestsOptions {
  readonly store: Pick<QuotaStore, 'takeQuota'>
  /** Milliseconds since 1970, as windows are those of UTC. */
  readonly clock: Clock
  readonly monotonic: MonotonicClock
  /** The number of processes last known. */
  processes(): number
  /** Called when the store did not count a take: requests are then counted in this process alone. */
  onStoreFailure(error: unknown): void
}

/** Sends a process's requests to the store, one at a time for each reservation. */
export function createQuotaRequests(options: QuotaRequestsOptions) {
  const { store, clock, monotonic, processes, onStoreFailure } = options
  const holder = randomUUID()
  let sequence = 0

  /**
   * A take whose response was lost may have been counted. It is repeated unchanged, which counts it once, and what it
   * grants is kept or given back: those who waited for it have been answered without it.
   * @param wanted `kept`: how many of those left may pass meanwhile; the others are given back
   * @returns what is granted; undefined = the store did not answer, or has a fault
   */
  async function request(
    reservation: Reservation,
    wanted: Pick<QuotaTake, 'needed' | 'ahead' | 'kept'>,
  ): Promise<number | undefined> {
    try {
      if (reservation.unanswered) {
        const owed = await send(reservation, reservation.unanswered)
        // Added to what is left only now, as requests may have passed meanwhile.
        reservation.left += owed
      }
      const granted = await send(reservation, nextTake(reservation, wanted))
      addGranted(reservation, granted, monotonic())
      return granted
    } catch (error) {
      onStoreFailure(error)
      return undefined
    }
  }

  function nextTake(
    reservation: Reservation,
    { needed, ahead, kept }: Pick<QuotaTake, 'needed' | 'ahead' | 'kept'>,
  ): QuotaTake {
    const { subject, window, endsAt, limit, uncounted } = reservation
    const keeps = Math.min(kept, reservation.left)
    const unused = reservation.left - keeps
    reservation.left = keeps
    reservation.uncounted = 0
    sequence++
    const counts = { needed, ahead, unused, kept: keeps, uncounted }
    return { subject, window, endsAt, limit, now: clock(), holder, sequence, holders: processes(), ...counts }
  }

  async function send(reservation: Reservation, wanted: QuotaTake): Promise<number> {
    reservation.unanswered = wanted
    const { granted, grantedToAll } = await store.takeQuota(wanted)
    reservation.unanswered = undefined
    reservation.granted = grantedToAll
    return granted
  }

  return { holder, request }
}
