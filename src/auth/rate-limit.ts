import { randomUUID } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { InstanceCounts } from '../store/instance-counts.ts'
import { createLocalRates } from '../store/local-rates.ts'
import type { Rate, Store, Taken } from '../store/store.ts'

/** Counts requests, across instances as long as the store is there. */
export interface Limiter {
  /** @param subject who is counted, and where */
  take(subject: string, rate: Rate): Promise<Taken>
  /** Counts in this process alone, without the store. */
  takeHere(subject: string, rate: Rate): Taken
  /** Counts in all workers of this instance, without the store; undefined = there is but one. */
  readonly takeInInstance: ((subject: string, rate: Rate) => Promise<Taken>) | undefined
  close(): void
}

export interface LimiterOptions {
  readonly store: Pick<Store, 'takeToken' | 'beat'>
  readonly contact: { readonly isUp: boolean }
  readonly clock: () => number
  /** Where the workers of this instance count together; undefined = there is but one. */
  readonly counts?: InstanceCounts | undefined
}

/** How often an instance says that it is there. */
const beatMs = 5_000

/**
 * Opens the counting. With the store out of reach each instance counts for itself, and allows its share: the
 * limit by the number of instances that were there last, and at least one.
 */
export function openLimiter({ store, contact, clock, counts }: LimiterOptions): Limiter {
  const local = createLocalRates(clock)
  // Of its own: what is counted here is not to take from the share of an outage.
  const here = createLocalRates(clock)
  const instance = randomUUID()
  let instances = 1

  function beat(): void {
    if (!contact.isUp) return
    store.beat(instance).then(
      (count) => {
        instances = Math.max(1, count)
      },
      () => {},
    )
  }

  async function take(subject: string, rate: Rate): Promise<Taken> {
    if (contact.isUp) {
      const taken = await store.takeToken(subject, rate).catch(() => undefined)
      if (taken) return taken
    }
    return local.take(subject, { ...rate, limit: Math.max(1, Math.floor(rate.limit / instances)) })
  }

  const timer = setInterval(beat, beatMs)
  timer.unref()
  setImmediate(beat)

  const takeInInstance = counts && ((subject: string, rate: Rate) => counts.take(`here ${subject}`, rate))

  return { take, takeHere: here.take, takeInInstance, close: () => clearInterval(timer) }
}

/** How a client address is counted: one of IPv6 by its first 64 bits, all of which one user usually has. */
export function addressSubject(address: string): string {
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.toLowerCase().split('::')
  const start = head === '' ? [] : head.split(':')
  const end = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - start.length - end.length) }, () => '0')
  const groups = [...start, ...zeros, ...end].slice(0, 4)
  return `${groups.map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/64`
}
