import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { type AuditChain, type AuditClass, auditClassOf, auditLinkOf, auditRetention } from '../audit.ts'
import { type AuditEntry, parseAuditEntry } from '../audit-entry.ts'
import {
  type Change,
  type ChangeLogReading,
  type ChangeStore,
  changesMax,
  createListeners,
  type LoggedChange,
  parseChange,
  subjectOf,
} from '../changes.ts'
import { storeUnavailable } from '../store-health.ts'
import type { Database } from './database.ts'
import { touchWal, watchWal } from './database-files.ts'

// The change log: the writer appends to it, and others' changes are read from it.

/** Writes a change with its entries in the change log and the audit log, in one step. */
export type Writer = ReturnType<typeof createWriter>

export function createWriter(database: Database) {
  const appendChange = createChangeAppender(database)
  const appendEntry = createAuditAppender(database)
  const { notify: notifyChanged, add: onChange } = createListeners<LoggedChange>()
  const { notify: notifyAudit, add: onAudit } = createListeners<AuditEntry>()

  /**
   * Writes, logs the changes that caches must drop, and notifies listeners after the commit.
   * @param describe returns these changes; undefined = nothing was done, so that no entry is written
   */
  async function writeAudited<Result>(
    work: () => Result,
    describe: (result: Result) => readonly Change[] | undefined,
    audit: AuditEntry | readonly AuditEntry[] = [],
  ): Promise<Result> {
    const { result, entries, logged } = await database.write(() => {
      const result = work()
      const changes = describe(result)
      const entries = changes ? [audit].flat() : []
      appendAudit(entries)
      return { result, entries, logged: changes?.map((change) => appendChange(change, Date.now())) ?? [] }
    })
    if (logged.length > 0) touchWal(database.walPath)
    entries.forEach(notifyAudit)
    logged.forEach(notifyChanged)
    return result
  }

  /**
   * For a statement that changes one row, or none.
   * @param change what caches must drop if it has; undefined = nothing
   */
  async function changeRow(
    run: () => { readonly changes: number | bigint },
    change?: Change,
    audit?: AuditEntry,
  ): Promise<boolean> {
    const describe = (isDone: boolean) => (isDone ? (change ? [change] : []) : undefined)
    return writeAudited(() => run().changes === 1, describe, audit)
  }

  function appendAudit(entries: readonly AuditEntry[]): void {
    for (const entry of entries) appendEntry(entry)
  }

  return {
    writeAudited,
    changeRow,
    /** To be called within a write; listeners are not notified. */
    appendAudit,
    /** To be called with changes of other processes. */
    notifyChanged,
    onChange,
    onAudit,
  }
}

/** @returns adds a change to the log; to be called within a write */
function createChangeAppender({ prepare }: Database) {
  const insert = prepare('INSERT INTO changes (kind, subject, at) VALUES (?, ?, ?)')
  const prune = prepare('DELETE FROM changes WHERE seq <= ?')

  return (change: Change, at: number): LoggedChange => {
    const position = Number(insert.run(change.kind, subjectOf(change), at).lastInsertRowid)
    prune.run(position - changesMax)
    return { change, position, at }
  }
}

/** How many entries retention removes at most for each added one, so that it catches up without delaying writes. */
const trimBatchMax = 20

/** @returns adds an entry to its chain and trims it; to be called within a write */
function createAuditAppender({ prepare }: Database) {
  const insert = prepare('INSERT INTO audit (entry, class, link) VALUES (?, ?, ?)')
  const selectChain = prepare('SELECT trimmed, last, entries FROM audit_chains WHERE class = ?')
  const saveChain = prepare(
    'INSERT OR REPLACE INTO audit_chains (class, trimmed, last, entries) VALUES (?, ?, ?, ?)',
  )
  const selectOldest = prepare('SELECT seq, entry, link FROM audit WHERE class = ? ORDER BY seq LIMIT ?')
  const remove = prepare('DELETE FROM audit WHERE seq = ?')

  function readChain(name: AuditClass): AuditChain & { readonly entries: number } {
    const { trimmed = '', last = '', entries = 0 } = selectChain.get(name) ?? {}
    return { class: name, trimmed: String(trimmed), last: String(last), entries: Number(entries) }
  }

  function trim(chain: AuditChain, entries: number, now: number) {
    let { trimmed } = chain
    let removed = 0
    for (const { seq, entry, link } of selectOldest.all(chain.class, trimBatchMax)) {
      const isOld = parseAuditEntry(String(entry)).at < now - auditRetention.ageMs
      if (!isOld && entries - removed <= auditRetention.entries) break
      remove.run(Number(seq))
      trimmed = String(link)
      removed++
    }
    return { trimmed, removed }
  }

  return (entry: AuditEntry): void => {
    const chain = readChain(auditClassOf(entry))
    const text = JSON.stringify(entry)
    const link = auditLinkOf(chain.last, text, 'sha256')
    insert.run(text, chain.class, link)
    const { trimmed, removed } = trim(chain, chain.entries + 1, entry.at)
    saveChain.run(chain.class, trimmed, link, chain.entries + 1 - removed)
  }
}

/**
 * Reads the change log.
 * @param listens whether to notice what other processes change; commands need not
 * @throws GatehouseError `store-unavailable` where the database is damaged
 */
export function openChanges(
  { prepare, walPath, read, assertInPlace }: Database,
  { notifyChanged, onChange }: Writer,
  listens: boolean,
): ChangeStore & { close(): void } {
  // Selected separately: SQLite would read the whole table for both bounds in one query, as it finds only one by the
  // index.
  const state = prepare(`SELECT (SELECT id FROM store) AS store,
    (SELECT min(seq) FROM changes) AS first, (SELECT max(seq) FROM changes) AS last`)
  const selectAfter = prepare('SELECT seq, kind, subject, at FROM changes WHERE seq > ? ORDER BY seq')
  const openedStore = read(() => prepare('SELECT id FROM store').get()?.id)
  /** The position up to which changes were announced; undefined before the first reading. */
  let announcedHead: number | undefined
  /** Whether a reading has found changes that were not announced: the watch may be late, or not work. */
  let isBehind = false
  const watch = listens ? watchWal(walPath, announce) : undefined

  /** Announces our own changes once more, as the log contains both. */
  function announce(): void {
    const reading = announcedHead === undefined ? undefined : tryReadAfter(announcedHead)
    if (!reading) return
    announcedHead = reading.head
    isBehind = false
    for (const logged of reading.changes ?? []) notifyChanged(logged)
  }

  /** A failure is left to the next reading, which reports it. */
  function tryReadAfter(after: number): ChangeLogReading | undefined {
    try {
      return read(() => readAfter(after))
    } catch {
      return undefined
    }
  }

  /** @throws GatehouseError `store-unavailable` where another store was written over this one */
  function readAfter(after: number | undefined): ChangeLogReading {
    assertInPlace()
    const { store, first, last } = state.get() ?? {}
    if (store !== openedStore) throw otherStoreError()
    const head = Number(last ?? 0)
    if (after === undefined) return readAtStart(head)
    if (after === head) return { head, changes: [], completeSince: 0 }
    // The log is shorter than what was read of it, has too many new entries, or the oldest of these are gone.
    if (after > head || head - after > changesMax || Number(first ?? 0) > after + 1)
      return { head, changes: undefined, completeSince: Date.now() }
    return { head, changes: selectAfter.all(after).flatMap(toLogged), completeSince: 0 }
  }

  function readAtStart(head: number): ChangeLogReading {
    const changes = selectAfter.all(Math.max(0, head - changesMax)).flatMap(toLogged)
    const [oldest] = changes
    const isWhole = oldest === undefined ? head === 0 : oldest.position === 1
    return { head, changes, completeSince: isWhole ? 0 : (oldest?.at ?? Date.now()) }
  }

  return {
    readChanges: async (after) => {
      const reading = read(() => readAfter(after))
      announcedHead ??= reading.head
      isBehind = reading.head !== announcedHead
      return reading
    },
    onChange,
    isListening: () => !isBehind && (watch?.isProven() ?? false),
    close: () => watch?.close(),
  }
}

function toLogged({ seq, kind, subject, at }: Record<string, unknown>): LoggedChange[] {
  const change = parseChange(String(kind), String(subject))
  return change ? [{ change, position: Number(seq), at: Number(at) }] : []
}

function otherStoreError(): GatehouseError {
  const message =
    'the database has the data of another store: restore the previous data; or, to use this data, restart the gateway'
  return storeUnavailable('lost', message)
}
