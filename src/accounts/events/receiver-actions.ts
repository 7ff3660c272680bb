import { randomUUID } from 'node:crypto'
import { errorMessage } from '#platform/errors/operator-error.ts'
import type { AuditStore, EventStore } from '#store/audit.ts'
import type { AuditEntryFactory } from '../audit-log.ts'
import {
  countWanted,
  newReceiverState,
  parseReceiverState,
  type Receiver,
  withoutPauses,
} from './receiver.ts'

/** What an Admin sees of the receivers of events, and can do with them. */
export interface ReceiverActions {
  /** Counts what is pending in at most 10,000 entries of the audit log. */
  list(): Promise<readonly ListedReceiver[]>
  /** @returns what happened: `unknown` = no receiver has this ID; `new` = no gateway has delivered to it yet */
  retry(id: string): Promise<'retried' | 'new' | 'unknown'>
  /** Sends a test event. @returns why it was not accepted (null = it was); undefined = no receiver has this ID */
  test(id: string): Promise<{ readonly receiver: string; readonly error: string | null } | undefined>
}

export interface ListedReceiver extends ReceiverReport {
  readonly id: string
}

/** How many pages of the log a list reads for each receiver. */
const pagesRead = 10

export function createReceiverActions({
  store,
  receivers,
  entry,
}: {
  readonly store: EventStore & Pick<AuditStore, 'appendAudit'>
  readonly receivers: readonly Receiver[]
  readonly entry: AuditEntryFactory
}): ReceiverActions {
  const find = (id: string) => receivers.find((one) => one.id === id)

  return {
    list: async () => {
      const reports = await reportReceivers(store, receivers, pagesRead)
      return receivers.flatMap(({ id }, index) => {
        const report = reports[index]
        return report ? [{ ...report, id }] : []
      })
    },
    retry: async (id) => {
      const receiver = find(id)
      if (!receiver) return 'unknown'
      if (!(await retryReceiver(store, receiver))) return 'new'
      await store.appendAudit(entry('events-retried', undefined, { receiver: receiver.name }))
      return 'retried'
    },
    test: async (id) => {
      const receiver = find(id)
      if (!receiver) return undefined
      await store.appendAudit(entry('event-tested', undefined, { receiver: receiver.name }))
      return { receiver: receiver.name, error: await sendTestEvent(receiver) }
    },
  }
}

/** The state of a receiver, as shown to people. Times are ISO 8601; null = never. */
interface ReceiverReport {
  readonly receiver: string
  /** `new` = no gateway has delivered to it yet. */
  readonly state: 'new' | 'ok' | 'failing'
  /** Entries of the audit log that it has not accepted yet. */
  readonly pending: number
  /** Whether more may be pending, as not all of the log was read. */
  readonly hasMorePending: boolean
  /** Events that were given up. */
  readonly dropped: number
  readonly deliveredAt: string | null
  readonly failedAt: string | null
  /** Why the last try failed. */
  readonly reason: string | null
  /** When the next try is, while it is failing. */
  readonly nextAt: string | null
}

type ReportedStore = Pick<EventStore, 'readReceivers' | 'readAuditAfter'>

/** @param pages how many pages of 1,000 entries of the audit log are read for each receiver at most */
export async function reportReceivers(
  store: ReportedStore,
  receivers: readonly Pick<Receiver, 'id' | 'name' | 'wants'>[],
  pages = Number.POSITIVE_INFINITY,
): Promise<readonly ReceiverReport[]> {
  const states = await store.readReceivers()
  return Promise.all(receivers.map((one) => report(store, one, { text: states.get(one.id), pages })))
}

async function report(
  store: ReportedStore,
  receiver: Pick<Receiver, 'name' | 'wants'>,
  { text, pages }: { readonly text: string | undefined; readonly pages: number },
): Promise<ReceiverReport> {
  const state = text === undefined ? newReceiverState('') : parseReceiverState(text)
  const behind =
    text === undefined
      ? { count: 0, isAtEnd: true }
      : await countWanted(store, receiver, { after: state.position, pages })
  const isFailing = state.failures > 0 || state.waiting.length > 0
  return {
    receiver: receiver.name,
    state: text === undefined ? 'new' : isFailing ? 'failing' : 'ok',
    pending: state.waiting.length + behind.count,
    hasMorePending: !behind.isAtEnd,
    dropped: state.dropped,
    deliveredAt: timeText(state.deliveredAt),
    failedAt: timeText(state.failedAt),
    reason: state.reason === '' ? null : state.reason,
    nextAt: isFailing
      ? timeText(Math.max(state.nextAt, Math.min(...state.waiting.map(({ nextAt }) => nextAt))))
      : null,
  }
}

function timeText(at: number): string | null {
  return at === 0 || !Number.isFinite(at) ? null : new Date(at).toISOString()
}

/**
 * Makes everything that waits for a receiver due now: the gateway that delivers to it then tries it at once.
 * @returns false where no gateway has delivered to it yet
 */
async function retryReceiver(
  store: Pick<EventStore, 'readReceivers' | 'replaceReceiver'>,
  { id }: Pick<Receiver, 'id'>,
): Promise<boolean> {
  for (;;) {
    const before = (await store.readReceivers()).get(id)
    if (before === undefined) return false
    const after = JSON.stringify(withoutPauses(parseReceiverState(before)))
    if (before === after || (await store.replaceReceiver({ id, before, after }))) return true
  }
}

/** Sends an event of the type `gatehouse.test`. @returns why it was not accepted; null = it was */
async function sendTestEvent({ deliver }: Pick<Receiver, 'deliver'>): Promise<string | null> {
  const actor = { kind: 'system', channel: 'system' } as const
  const entry = { at: Date.now(), actor, action: 'test', target: undefined, details: {} } as const
  try {
    await deliver({ id: `evt_${randomUUID()}`, type: 'gatehouse.test', entry })
    return null
  } catch (error) {
    return errorMessage(error)
  }
}
