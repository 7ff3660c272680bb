import { type AuditStore, auditClasses } from '../audit.ts'
import {
  isPast,
  type LoggedAuditEntry,
  matchesFilter,
  needlesOf,
  parseAuditEntry,
  skippedFrom,
} from '../audit-entry.ts'
import type { Connection } from './open-connection.ts'
import { loadScript } from './scripts.ts'

/** Excludes 0-0, which nothing precedes and Redis rejects as the end of an interval. */
const positionPattern = /^(?!0+-0+$)\d{1,15}-\d{1,15}$/

/** How many entries are scanned for one reply: this blocks Redis for some milliseconds. */
const scannedMax = 1_000

const readScript = loadScript('read-audit')
const appendScript = loadScript('append-audit', { isAudited: true })

/** The audit log as two streams, whose entries cannot be changed. */
export function createAuditStore(connection: Connection): AuditStore {
  const { keys, ask, run, runAudited, confirmAbsence, onAudit } = connection

  return {
    appendAudit: async (entry) => {
      await confirmAbsence()
      await runAudited(appendScript, [], [], entry)
    },
    findAudit: async ({ filter, before, limit }) => {
      if (before !== undefined && !positionPattern.test(before)) return { entries: [], before: undefined }
      // The IDs of entries begin with the time of Redis.
      const start = before === undefined ? String(skippedFrom(filter) ?? '+') : `(${before}`
      const { exact, lower } = needlesOf(filter)
      const answer = await run(
        readScript,
        [keys.audit, keys.ownAudit],
        ['newest', start, scannedMax, limit, exact, lower],
      )
      // The cast is sound: the script returns nothing else.
      const [next, found] = answer as [string, [string, string[]][]]
      if (next === '' && found.length === 0) await confirmAbsence()
      const logged = found.map(toEntry)
      const entries = logged.filter((entry) => matchesFilter(entry, filter))
      return { entries, before: next === '' || isPast(logged, filter) ? undefined : next }
    },
    onAudit,
    readAuditChains: async () => {
      const fields = await ask((client) => client.hgetall(keys.auditChains))
      if (Object.keys(fields).length === 0) await confirmAbsence()
      return auditClasses.map((name) => {
        const [trimmed = '', last = ''] = [fields[`${name}:trimmed`], fields[`${name}:last`]]
        return { class: name, trimmed, last }
      })
    },
    readAuditChain: async ({ class: name, after, limit }) => {
      const stream = name === 'own' ? keys.ownAudit : keys.audit
      const start = after === undefined ? '-' : `(${after}`
      const entries = await ask((client) => client.xrange(stream, start, '+', 'COUNT', limit))
      if (entries.length === 0) await confirmAbsence()
      return entries.map(([position, [, text = '', , link = '']]) => ({ position, text, link }))
    },
  }
}

/** A stream entry: its ID, and its only field. */
function toEntry([position, fields]: [string, string[]]): LoggedAuditEntry {
  return { ...parseAuditEntry(fields[1] ?? '{}'), position }
}
