import { dayMs, type EpochMs } from '#platform/time.ts'
import type { EventStore } from '#store/audit.ts'
import { parseAuditEntry } from '#store/audit-entry.ts'
import type { EventMessage } from './event-message.ts'
import { type EventType, eventTypesOf } from './event-types.ts'

export interface Receiver {
  readonly id: string
  /** For logs and lists, without secrets. */
  readonly name: string
  wants(type: EventType): boolean
  /** @throws Error that says why the message was not accepted */
  deliver(message: EventMessage): Promise<void>
}

/** What the store keeps of a receiver of events. */
export interface ReceiverState {
  /** Up to here in the audit log, every entry was delivered, was given up, or is in `waiting`. */
  readonly position: string
  /** Entries that were refused, and later ones of the same accounts; in the order of the log, at most `waitingMax`. */
  readonly waiting: readonly WaitingEntry[]
  /** Rounds in a row in which nothing was accepted. */
  readonly failures: number
  /** Nothing is sent before this time. */
  readonly nextAt: EpochMs
  /** When something was refused last, and why; 0 and '' = never. */
  readonly failedAt: EpochMs
  readonly reason: string
  /** When something was accepted last; 0 = never. */
  readonly deliveredAt: EpochMs
  /** How many events were given up. */
  readonly dropped: number
  /** The process that delivers, until its lease ends; '' = none. */
  readonly holder: string
  /** The end of the lease; without a holder, when the last one let go. */
  readonly heldUntil: EpochMs
}

export interface WaitingEntry {
  /** The position of the entry before it: where reading it begins. */
  readonly after: string
  readonly position: string
  /** ID of the account; '' = it is about none. Those of one account are delivered in order. */
  readonly account: string
  readonly attempts: number
  readonly nextAt: EpochMs
  /** When it was refused last; 0 = not since it was last made due at once. */
  readonly refusedAt: EpochMs
}

/** Maximum number of entries that wait for another try; beyond it, the receiver gets no new ones. */
export const waitingMax = 100
/** After this time an event that the receiver does not accept is dropped. */
export const keptMs = 3 * dayMs

const entryPause = { firstMs: 5_000, maxMs: 3_600_000 } as const
const receiverPause = { firstMs: 1_000, maxMs: 300_000 } as const

/** Until the next try of an entry. @param attempts how often it was tried, at least once */
export function entryPauseMs(attempts: number): number {
  return pauseMs(entryPause, attempts)
}

/** Until the next try of anything. @param failures in a row, at least one */
export function receiverPauseMs(failures: number): number {
  return pauseMs(receiverPause, failures)
}

/** Doubled each time, and up to a quarter less at random, so that many senders do not come at once. */
function pauseMs({ firstMs, maxMs }: typeof entryPause | typeof receiverPause, times: number): number {
  const fullMs = Math.min(maxMs, firstMs * 2 ** Math.min(times - 1, 30))
  return Math.round(fullMs * (1 - Math.random() / 4))
}

/** The state of a new receiver, which gets what is written after a position. */
export function newReceiverState(position: string): ReceiverState {
  return {
    position,
    waiting: [],
    failures: 0,
    nextAt: 0,
    failedAt: 0,
    reason: '',
    deliveredAt: 0,
    dropped: 0,
    holder: '',
    heldUntil: 0,
  }
}

export function parseReceiverState(text: string): ReceiverState {
  // The cast is sound: it was written by JSON.stringify from this type, perhaps before it had all members.
  const state = { ...newReceiverState(''), ...(JSON.parse(text) as Partial<ReceiverState>) }
  return { ...state, waiting: state.waiting.map((entry) => ({ ...entry, refusedAt: entry.refusedAt ?? 0 })) }
}

/** The same state, but everything that waits is due at once. */
export function withoutPauses(state: ReceiverState): ReceiverState {
  return { ...state, nextAt: 0, failures: 0, waiting: dueAtOnce(state.waiting) }
}

/** Each is sent once more, however old it is. */
export function dueAtOnce(waiting: readonly WaitingEntry[]): readonly WaitingEntry[] {
  return waiting.map((entry) => ({ ...entry, nextAt: 0, refusedAt: 0 }))
}

type EventLog = Pick<EventStore, 'readAuditAfter'>

const pageSize = 1_000

/** Counts the entries after a position that a receiver wants, on the next `pages` pages: the rest can follow later. */
export async function countWanted(
  store: EventLog,
  { wants }: Pick<Receiver, 'wants'>,
  { after, pages }: { readonly after: string; readonly pages: number },
) {
  let position = after
  let count = 0
  for (let read = 0; read < pages; read++) {
    const page = await store.readAuditAfter({ after: position, limit: pageSize })
    for (const { text } of page) if (eventTypesOf(parseAuditEntry(text)).some(wants)) count++
    position = page.at(-1)?.position ?? position
    if (page.length < pageSize) return { position, count, isAtEnd: true }
  }
  return { position, count, isAtEnd: false }
}

/** How many pages are read at a time. */
const pagesAtOnce = 5

/** Keeps count of the entries between what a receiver has got and the end of the log, without counting them anew. */
export function createPendingCount(store: EventLog, receiver: Receiver) {
  let counted: { position: string; count: number } | undefined

  return {
    count: () => counted?.count ?? 0,
    /** To be called after each round. @param position of the receiver @param passed how many it has moved past */
    update: async (
      position: string,
      { passed, isAtEnd }: { readonly passed: number; readonly isAtEnd: boolean },
    ) => {
      // The receiver has moved past everything that was counted.
      if (isAtEnd || (counted && counted.count <= passed)) counted = undefined
      if (isAtEnd) return
      if (counted) counted.count -= passed
      const start = counted ?? { position, count: 0 }
      const more = await countWanted(store, receiver, { after: start.position, pages: pagesAtOnce })
      counted = { position: more.position, count: start.count + more.count }
    },
  }
}
