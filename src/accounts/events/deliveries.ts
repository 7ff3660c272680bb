import { randomUUID } from 'node:crypto'
import { type Clock, everySecond } from '#platform/clock.ts'
import { dayMs } from '#platform/time.ts'
import type { AuditStore } from '#store/audit.ts'
import type { EventStore } from '#store/events.ts'
import { type DeliveryResult, deliverRound, type Receiver } from './deliver-round.ts'
import { createPendingCount } from './pending-count.ts'
import { newReceiverState, parseReceiverState, type ReceiverState } from './receiver-state.ts'

type EventReceiverStore = Pick<AuditStore, 'findAudit' | 'onAudit'> & EventStore

interface DeliveriesOptions {
  readonly store: EventReceiverStore
  readonly clock: Clock
  onResult(result: DeliveryResult, messages: number, receiver: Receiver): void
  /** Told of what the store could not answer; what is undelivered is delivered later. */
  onStoreFailure(error: unknown): void
}

interface Deliveries {
  /** Delivers to these from now on, and to others no more. Resolves once it is known from where on each gets events. */
  use(receivers: readonly Receiver[]): Promise<void>
  /** How many entries wait for the receivers of which this process has the lease. */
  pendingCount(): number
  /** Waits for what is being sent, and leaves the rest to other processes at once. */
  close(): Promise<void>
}

/** How long a process that has died keeps others waiting: longer than a message may take. */
export const leaseMs = 20_000
/** What is kept of receivers that no config names any more goes after this time. */
const forgottenAfterMs = 7 * dayMs

/**
 * Delivers the entries of the audit log to receivers: each by one process at a time, which has a lease in the store.
 * A process that was killed has only to be waited for: what it had not written down is sent again.
 */
export function openDeliveries({ store, clock, onResult, onStoreFailure }: DeliveriesOptions): Deliveries {
  const holder = randomUUID()
  let following: readonly Following[] = []
  let isClosed = false
  let isReading = false
  /** Whether something has been written since the receivers were read last. */
  let isDue = false

  function follow(receiver: Receiver): Following {
    const pending = createPendingCount(store, receiver)
    let known = ''
    let state: ReceiverState | undefined
    let running: Promise<void> | undefined

    async function save(next: ReceiverState): Promise<boolean> {
      const after = JSON.stringify(next)
      if (!(await store.replaceReceiver({ id: receiver.id, before: known, after }))) {
        // Somebody else has it, or asks for a retry: it is read again with the next tick.
        state = undefined
        return false
      }
      known = after
      state = next
      return true
    }

    async function claim(text: string): Promise<boolean> {
      if (text !== known || !state) {
        known = text
        state = text === '' ? newReceiverState(await endOfLog(store)) : parseReceiverState(text)
      }
      const now = clock()
      const isOwn = state.holder === holder
      if (!isOwn && now < state.heldUntil) return false
      if (isOwn && state.heldUntil - now > leaseMs / 2) return true
      return save({ ...state, holder, heldUntil: now + leaseMs })
    }

    /** @returns whether there may be more to send at once */
    async function deliverOnce(before: ReceiverState): Promise<boolean> {
      const round = await deliverRound(
        { store, receiver, now: clock(), onResult: (result, count) => onResult(result, count, receiver) },
        before,
      )
      const { next, isChanged, isAtEnd } = round
      if (!isChanged) state = next
      else if (!(await save({ ...next, holder, heldUntil: clock() + leaseMs }))) return false
      await pending.update(next.position, round)
      return isChanged || (!isAtEnd && next.position !== before.position)
    }

    async function deliver(): Promise<void> {
      while (state && !isClosed && following.includes(own)) if (!(await deliverOnce(state))) return
    }

    const own: Following = {
      receiver,
      pendingCount: () => (state?.holder === holder ? state.waiting.length + pending.count() : 0),
      start: async (text) => {
        if (running) return
        const claiming = claim(text)
        running = claiming
          .then((isOwn) => (isOwn ? deliver() : undefined))
          .catch(onStoreFailure)
          .finally(() => {
            running = undefined
          })
        await claiming.catch(() => false)
      },
      release: async () => {
        await running
        if (state?.holder === holder) await save({ ...state, holder: '', heldUntil: 0 }).catch(() => false)
      },
    }
    return own
  }

  async function tick(): Promise<void> {
    isDue = true
    if (following.length === 0 || isClosed || isReading) return
    isReading = true
    try {
      while (isDue && !isClosed) {
        isDue = false
        const states = await store.readReceivers()
        await Promise.all(following.map(({ receiver, start }) => start(states.get(receiver.id) ?? '')))
      }
    } catch (error) {
      onStoreFailure(error)
    } finally {
      isReading = false
    }
  }

  async function forgetOthers(): Promise<void> {
    for (const [id, before] of await store.readReceivers()) {
      const isKnown = following.some(({ receiver }) => receiver.id === id)
      if (!isKnown && clock() - parseReceiverState(before).heldUntil > forgottenAfterMs)
        await store.replaceReceiver({ id, before, after: '' })
    }
  }

  const stop = everySecond(() => void tick())
  store.onAudit(() => {
    if (following.length > 0) setImmediate(tick)
  })

  return {
    use: async (receivers) => {
      const before = following
      following = receivers.map(
        (receiver) => before.find((known) => known.receiver === receiver) ?? follow(receiver),
      )
      await Promise.all(before.filter((known) => !following.includes(known)).map(({ release }) => release()))
      await tick()
      await forgetOthers().catch(onStoreFailure)
    },
    pendingCount: () => following.reduce((sum, { pendingCount }) => sum + pendingCount(), 0),
    close: async () => {
      isClosed = true
      stop()
      await Promise.all(following.map(({ release }) => release()))
    },
  }
}

/** A receiver that this process may deliver to. */
interface Following {
  readonly receiver: Receiver
  pendingCount(): number
  /**
   * Delivers in the background. Resolves once it is known whether this process does.
   * @param text what the store keeps of it
   */
  start(text: string): Promise<void>
  /** Lets another process deliver. */
  release(): Promise<void>
}

async function endOfLog(store: Pick<AuditStore, 'findAudit'>): Promise<string> {
  const page = { filter: { action: undefined, who: undefined }, before: undefined, limit: 1 }
  const { entries } = await store.findAudit(page)
  return entries[0]?.position ?? ''
}
