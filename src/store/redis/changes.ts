import {
  type ChangeLogReading,
  type ChangeStore,
  changesMax,
  completeSinceOf,
  type LoggedChange,
  parseChange,
} from '../changes.ts'
import { openClient, type RedisOptions } from './client.ts'
import type { Connection } from './open-connection.ts'
import { loadScript } from './scripts.ts'

const readScript = loadScript('read-changes')

/**
 * The change log of all instances: reading it guarantees that no change is missed, listening only makes changes arrive
 * sooner.
 * @param listens whether to subscribe to changes as they are made; commands need not
 */
export function openChanges(
  connection: Connection,
  options: RedisOptions,
  listens: boolean,
): ChangeStore & { close(): void } {
  const { keys, runInAnyFormat, storeId, format, notifyListeners, onChange } = connection
  /** How far the clock of Redis is ahead of ours, in ms. */
  let clockOffsetMs = 0
  const toLocalClock = (logged: LoggedChange): LoggedChange => ({ ...logged, at: logged.at - clockOffsetMs })
  const subscription = listens
    ? openSubscription(options, keys.channel, (logged) => changeBuffer.push(logged))
    : undefined
  const changeBuffer = createChangeBuffer((logged) => notifyListeners(toLocalClock(logged)))

  /** The last entry that was read: if the log has another entry at its position, it has lost entries that were read. */
  let last: Entry | undefined

  async function readChanges(after: number | undefined): Promise<ChangeLogReading> {
    try {
      const reading = await readNow(after)
      changeBuffer.onLogRead(reading.head)
      return reading
    } catch (error) {
      changeBuffer.hold()
      throw error
    }
  }

  async function readNow(after: number | undefined): Promise<ChangeLogReading> {
    const askedAt = performance.now()
    const readKeys = [keys.log, keys.head, keys.storeId, keys.format]
    const reply = await runInAnyFormat(readScript, readKeys, [after ?? '', changesMax])
    const { head, id, now, entries, ...store } = parseReply(reply)
    // Corrected by its duration, as the clock may be set in between.
    clockOffsetMs = now - (Date.now() - (performance.now() - askedAt) / 2)
    await storeId.observe(id)
    await format.observe({ id, format: store.format })
    const isContinued = after === undefined || isContinuous(entries, after, head)
    last = entries.at(-1)
    subscription?.check(head)
    if (!isContinued) return { head, changes: undefined, completeSince: Date.now() }
    const changes = entries.flatMap((entry) => loggedAfter(after, entry)).map(toLocalClock)
    return { head, changes, completeSince: after === undefined ? completeSinceOf(head, changes) : 0 }
  }

  /**
   * Whether the entries are all that were added after a position. A lower head means a failover or a restore; a missing
   * entry means that the log was cut, or that there are too many to send. After a failover new entries may have taken
   * the place of lost ones: then the last entry that was read differs.
   */
  function isContinuous(entries: readonly Entry[], after: number, head: number): boolean {
    const [first] = entries
    if (last?.position === after && first?.text !== last.text) return false
    return entries.filter(({ position }) => position > after).length === head - after
  }

  return {
    readChanges,
    onChange,
    isListening: () => subscription?.isListening() ?? false,
    close: () => subscription?.close(),
  }
}

interface Entry {
  readonly position: number
  /** The whole entry as it was written. */
  readonly text: string
  readonly logged: LoggedChange | undefined
}

function loggedAfter(after: number | undefined, { position, logged }: Entry): readonly LoggedChange[] {
  return logged && position > (after ?? 0) ? [logged] : []
}

function parseReply(reply: unknown) {
  const [head, id, now, entries, format] = Array.isArray(reply) ? reply : []
  return {
    head: Number(head ?? 0),
    id: String(id ?? ''),
    now: Number(now),
    entries: Array.isArray(entries) ? entries.map(parseEntry) : [],
    format: String(format ?? ''),
  }
}

/** A stream entry: its ID, and its fields as name, value, name, value. */
function parseEntry(entry: unknown): Entry {
  const [id, fields]: unknown[] = Array.isArray(entry) ? entry : []
  const words = Array.isArray(fields) ? fields.map(String) : []
  const [, kind = '', , changedId = '', , at] = words
  const position = Number.parseInt(String(id), 10)
  const change = parseChange(kind, changedId)
  return {
    position,
    text: [id, ...words].join(' '),
    logged: change && { change, position, at: Number(at) },
  }
}

/** How long a published change is buffered at most. */
const holdMsMax = 2_000

/**
 * A published change may arrive before the store is reachable again, as after a partition: its account would be dropped
 * from the caches, and could not be looked up. Hence a published change is buffered until the log is readable, for
 * `holdMsMax` at most, as a known revocation must take effect.
 */
function createChangeBuffer(notify: (change: LoggedChange) => void) {
  let isHeld = true
  let held: LoggedChange[] = []
  let timer: NodeJS.Timeout | undefined

  function push(logged: LoggedChange): void {
    if (isHeld) {
      held.push(logged)
      timer ??= setTimeout(release, holdMsMax).unref()
    } else notify(logged)
  }

  function release(): void {
    clearTimeout(timer)
    timer = undefined
    const due = held
    held = []
    for (const logged of due) notify(logged)
  }

  /** The log has been read up to a position. */
  function onLogRead(head: number): void {
    isHeld = false
    held = held.filter(({ position }) => position > head)
    if (held.length === 0 && timer === undefined) return
    // Deferred until the reader of the log has recorded that the store is back.
    setImmediate(release)
  }

  return {
    push,
    /** The log cannot be read now. */
    hold: () => {
      isHeld = true
    },
    onLogRead,
  }
}

/** How often a stalled subscription is reconnected at most. */
const reopenIntervalMs = 1_000
/** How long a subscription must last to count, as one that is cut again and again may lose messages each time. */
const steadyAfterMs = 1_000

/**
 * Receives changes as they are published: fast, and at most once. Opens a connection of its own, as a subscribed one
 * cannot send other commands.
 * @param onChange called with each change; its time is on the clock of Redis
 */
function openSubscription(options: RedisOptions, channel: string, onChange: (change: LoggedChange) => void) {
  const { client, close } = openClient(options)
  let lastPosition: number | undefined
  let reopenedAt = 0
  let behindSince: number | undefined
  let subscribedAt = Number.POSITIVE_INFINITY

  client.on('ready', () => {
    client.subscribe(channel).then(onSubscribed, () => {})
  })
  client.on('close', () => {
    subscribedAt = Number.POSITIVE_INFINITY
  })
  client.on('message', (_channel: string, message: string) => {
    const logged = parseMessage(message)
    if (!logged) return
    lastPosition = Math.max(lastPosition ?? 0, logged.position)
    behindSince = undefined
    onChange(logged)
  })

  function onSubscribed(): void {
    if (client.status === 'ready') subscribedAt = performance.now()
  }

  /** Whether it has been subscribed for a while, and has received what `check` expects. */
  function isListening(): boolean {
    return behindSince === undefined && performance.now() - subscribedAt >= steadyAfterMs
  }

  /** Sets the position that the log was read to: a subscription that stays behind it is stalled, and reconnected. */
  function check(head: number): void {
    if (lastPosition === undefined || head <= lastPosition) {
      lastPosition = head
      behindSince = undefined
      return
    }
    const now = performance.now()
    behindSince ??= now
    // A message may still be on its way; by the second check it should have arrived.
    if (behindSince === now || now - reopenedAt < reopenIntervalMs || client.status !== 'ready') return
    reopenedAt = now
    behindSince = undefined
    lastPosition = head
    client.disconnect(true)
  }

  return { check, isListening, close }
}

/** `position time kind subject`, as log-change.lua writes it. */
function parseMessage(message: string): LoggedChange | undefined {
  const [position, at, kind = '', changedId = ''] = message.split(' ')
  const change = parseChange(kind, changedId)
  return change && { change, position: Number(position), at: Number(at) }
}
