import { changesAtStart, parseChange } from '../changes.ts'
import type { ChangeReading, LoggedChange } from '../store.ts'
import type { RedisOptions } from './client.ts'
import type { Connection } from './connection.ts'
import { loadScript } from './scripts.ts'
import { openSubscription } from './subscription.ts'

const readScript = loadScript('read-changes', { isChange: false })

/** The change log of all instances: read for the guarantee, listened to for speed. */
export interface ChangeLog {
  read(after: number | undefined): Promise<ChangeReading>
  close(): void
}

/** @param listens whether changes are to be heard as they are made; commands need not */
export function openChangeLog(connection: Connection, options: RedisOptions, listens: boolean): ChangeLog {
  const { keys, read, seeId, hear } = connection
  /** How far the clock of Redis is ahead of ours, in ms. */
  let aheadMs = 0
  const onOurClock = (logged: LoggedChange): LoggedChange => ({ ...logged, at: logged.at - aheadMs })
  const subscription = listens
    ? openSubscription(options, keys.channel, (logged) => hear(onOurClock(logged)))
    : undefined

  async function readLog(after: number | undefined): Promise<ChangeReading> {
    const asked = Date.now()
    const reply = await read(readScript, [keys.log, keys.head, keys.storeId], [after ?? '', changesAtStart])
    const { head, id, now, entries } = parsePicture(reply)
    aheadMs = now - (asked + Date.now()) / 2
    const isOther = seeId(id)
    subscription?.check(head)
    const changes = entries.flatMap(parseEntry).map(onOurClock)
    if (after === undefined) return { head, changes, completeSince: completeSince(head, changes) }
    if (after === head && !isOther) return { head, changes: [], completeSince: 0 }
    // A lower head means a failover or a restore, a missing entry that the log was cut: nothing can be told.
    if (isOther || after > head || entries.length !== head - after) {
      return { head, changes: undefined, completeSince: Date.now() }
    }
    return { head, changes, completeSince: 0 }
  }

  return { read: readLog, close: () => subscription?.close() }
}

/** The beginning of what was read at a start, unless that is the beginning of the log. */
function completeSince(head: number, [oldest]: readonly LoggedChange[]): number {
  if (oldest === undefined) return head === 0 ? 0 : Date.now()
  return oldest.position === 1 ? 0 : oldest.at
}

function parsePicture(reply: unknown) {
  const [head, id, now, entries] = Array.isArray(reply) ? reply : []
  return {
    head: Number(head ?? 0),
    id: String(id ?? ''),
    now: Number(now),
    entries: Array.isArray(entries) ? entries : [],
  }
}

/** A stream entry: its ID, and its fields as name, value, name, value. */
function parseEntry(entry: unknown): LoggedChange[] {
  const [id, fields]: unknown[] = Array.isArray(entry) ? entry : []
  const [, kind, , subject, , at] = Array.isArray(fields) ? fields : []
  const change = parseChange(String(kind), String(subject))
  return change ? [{ change, position: Number.parseInt(String(id), 10), at: Number(at) }] : []
}
