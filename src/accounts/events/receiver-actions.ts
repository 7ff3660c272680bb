import type { AuditStore, EventStore } from '#store/audit.ts'
import type { AuditEntryFactory } from '../audit/entry-factory.ts'
import type { Receiver } from './deliver-round.ts'
import { type ReceiverReport, reportReceivers, retryReceiver, sendTestEvent } from './receiver-report.ts'

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
