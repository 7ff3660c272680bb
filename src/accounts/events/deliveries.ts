import { randomUUID } from 'node:crypto'
import { everySecond } from '#platform/every-second.ts'
import { type Clock, dayMs } from '#platform/time.ts'
import type { AuditStore, EventStore } from '#store/audit.ts'
import { type DeliveryResult, deliverRound } from './deliver-round.ts'
import {
  createPendingCount,
  newReceiverState,
  parseReceiverState,
  type Receiver,
  type ReceiverState,
} from './receiver.ts'

type EventReceiverStore = Pick<AuditStore, 'findAudit' | 'onAudit'> & EventStore

interface DeliveriesOptions {
  readonly store: EventReceiverStore
  readonly clock: Clock
  onResult(result: DeliveryResult, messages: number, receiver: Receiver): void
  /** Called when the store could not answer; what has not been delivered is delivered later. */
  onStoreFailure(error: unknown): void
}

interface Deliveries {
  /** From now on delivers to these receivers only. Resolves once it is known with which event each of them begins. */
  use(receivers: readonly Receiver[]): Promise<void>
  /** How many entries wait for the receivers of which this process has the lease. */
  pendingCount(): number
  /** Waits for what is being sent; other processes can take over the rest at once. */
  close(): Promise<void>
}

/** How long others wait when the process that delivers has died: longer than a message may take. */
export const leaseMs = 20_000
/** The state of a receiver that no config has named for this long is deleted. */
const forgottenAfterMs = 7 * dayMs

/**
 * Delivers the entries of the audit log to receivers. One process at a time serves a receiver, and holds a lease for it
 * in the store. If that process is killed, another one takes over once the lease has run out, and sends again whatever
 * was not recorded as sent.
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
        // Another process has taken the lease, or an operator wants a retry: the state is read again at the next tick.
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
      if (!isOwn && state.holder !== '' && now < state.heldUntil) return false
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
        if (state?.holder !== holder) return
        // The time counts for `forgetOthers`.
        await save({ ...state, holder: '', heldUntil: clock() }).catch(() => false)
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
   * Starts delivering in the background. Resolves once it is known whether this process is the one that delivers.
   * @param text what the store keeps of the receiver
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
