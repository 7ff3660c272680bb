import { createListeners } from '#platform/listeners.ts'
import type { EpochMs } from '#platform/time.ts'
import { type AuditChain, type AuditClass, auditClassOf, auditLinkOf, auditRetention } from '../audit.ts'
import { type AuditEntry, parseAuditEntry } from '../audit-entry.ts'
import { type Change, changedIdOf, changesMax, type LoggedChange } from '../changes.ts'
import type { Database } from './database.ts'
import { touchWal } from './database-files.ts'

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
    audit: AuditEntry | readonly AuditEntry[] | ((result: Result) => readonly AuditEntry[]) = [],
  ): Promise<Result> {
    const { result, entries, logged } = await database.write(() => {
      const result = work()
      const changes = describe(result)
      const entries = changes ? [typeof audit === 'function' ? audit(result) : audit].flat() : []
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

  return (change: Change, at: EpochMs): LoggedChange => {
    const position = Number(insert.run(change.kind, changedIdOf(change), at).lastInsertRowid)
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

  function trim(chain: AuditChain, entries: number, now: EpochMs) {
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
