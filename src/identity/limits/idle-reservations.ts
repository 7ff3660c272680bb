import { quotaSlack } from '#store/quotas.ts'
import type { Reservation } from './quota-reservation.ts'

export interface IdleReservationsOptions {
  readonly reservations: ReadonlyMap<string, Reservation>
  readonly storeConnection: { readonly isUp: boolean }
  processes(): number
  giveBack(reservation: Reservation): void
}

/** How often large reservations are checked: unused ones are given back within about two seconds. */
const largeCheckMs = 1_000
/** How often all reservations are checked: what was reserved more than `holderGoneMs` ago counts as used. */
const checkMs = 300_000
/** A large reservation is given back if it would last for more seconds than this. */
const secondsMax = 4

/** Finds unused reservations, so that others may have them. */
export function openIdleReservations(options: IdleReservationsOptions) {
  const { reservations, storeConnection, processes, giveBack } = options
  /** Reservations above what `quotaSlack` grants all processes: only these can deprive others of requests. */
  const large = new Set<Reservation>()
  let largeTimer: NodeJS.Timeout | undefined

  function isLarge({ limit, left }: Reservation): boolean {
    return left > Math.floor(quotaSlack(limit) / processes())
  }

  /** To be called when a reservation may have grown. */
  function watch(reservation: Reservation): void {
    if (!isLarge(reservation)) return
    large.add(reservation)
    largeTimer ??= setInterval(checkLarge, largeCheckMs).unref()
  }

  function checkLarge(): void {
    for (const reservation of large) {
      const { left, passed, passedWhenChecked, isDropped } = reservation
      const isIdle = left > secondsMax * (passed - passedWhenChecked)
      reservation.passedWhenChecked = passed
      if (isIdle && !isDropped && storeConnection.isUp) giveBack(reservation)
      if (isIdle || isDropped || !isLarge(reservation)) large.delete(reservation)
    }
    if (large.size > 0) return
    clearInterval(largeTimer)
    largeTimer = undefined
  }

  function checkAll(): void {
    if (!storeConnection.isUp) return
    for (const reservation of reservations.values()) {
      if (reservation.left > 0 && reservation.passed === reservation.passedWhenChecked) giveBack(reservation)
      reservation.passedWhenChecked = reservation.passed
    }
  }

  const timer = setInterval(checkAll, checkMs).unref()

  return {
    watch,
    close: () => {
      clearInterval(timer)
      clearInterval(largeTimer)
    },
  }
}
