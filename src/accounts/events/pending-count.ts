import type { EventStore } from '#store/audit.ts'
import { parseAuditEntry } from '#store/audit-entry.ts'
import type { Receiver } from './deliver-round.ts'
import { eventTypesOf } from './event-types.ts'

type EventLog = Pick<EventStore, 'readAuditAfter'>

interface CountedLog {
  readonly position: string
  readonly count: number
  readonly isAtEnd: boolean
}

const pageSize = 1_000

/** Counts entries that a receiver wants, after a position; of long logs it can count one part after another. */
export async function countWanted(
  store: EventLog,
  { wants }: Pick<Receiver, 'wants'>,
  { after, pages }: { readonly after: string; readonly pages: number },
): Promise<CountedLog> {
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
