import { type AuditStore, auditClasses, type EventStore } from '../audit.ts'
import {
  isPast,
  type LoggedAuditEntry,
  matchesFilter,
  needlesOf,
  parseAuditEntry,
  skippedFrom,
} from '../audit-entry.ts'
import type { Connection } from './open-connection.ts'
import { loadScript, type ScriptCall } from './scripts.ts'

/** Excludes 0-0, which nothing precedes and Redis rejects as the end of an interval. */
const positionPattern = /^(?!0+-0+$)\d{1,15}-\d{1,15}$/

/** How many entries are scanned for one reply: this blocks Redis for some milliseconds. */
const scannedMax = 1_000

const readScript = loadScript('read-audit')
const appendScript = loadScript('append-audit', { isAudited: true })
const onceScript = loadScript('append-audit-once', { isAudited: true })
const replaceScript = loadScript('replace-receiver')

/**
 * The audit log as two streams, whose entries cannot be changed. The IDs of what is told once are keys that expire;
 * receivers of events are fields of one hash.
 */
export function createAuditStore(connection: Connection): AuditStore & EventStore {
  const { keys, ask, run, runAudited, confirmAbsence, onAudit } = connection

  /** @returns from where to scan on ('' = that was all), and the entries found */
  async function scan(...args: ScriptCall[1]): Promise<[string, [string, string[]][]]> {
    // The cast is sound: the script returns nothing else.
    return (await run(readScript, [keys.audit, keys.ownAudit], args)) as [string, [string, string[]][]]
  }

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
      const [next, found] = await scan('newest', start, scannedMax, limit, exact, lower)
      if (next === '' && found.length === 0) await confirmAbsence()
      const logged = found.map(toLogged)
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
    readReceivers: async () => {
      const fields = await ask((client) => client.hgetall(keys.eventReceivers))
      if (Object.keys(fields).length === 0) await confirmAbsence()
      return new Map(Object.entries(fields))
    },
    replaceReceiver: async ({ id, before, after }) => {
      if (before === '') await confirmAbsence()
      return (await run(replaceScript, [keys.eventReceivers], [id, before, after])) === 1
    },
    readAuditAfter: async ({ after, limit }) => {
      const start = after === '' ? '-' : `(${after}`
      const [, found] = await scan('oldest', start, limit, limit, '', '')
      if (found.length === 0) await confirmAbsence()
      return found.map(([position, [, text = '']]) => ({ position, text }))
    },
    appendAuditOnce: async ({ id, keptUntil, entry }) => {
      await confirmAbsence()
      return (await runAudited(onceScript, [keys.auditOnce(id)], [keptUntil], entry)) === 1
    },
  }
}

/** A stream entry: its ID, and its only field. */
function toLogged([position, fields]: [string, string[]]): LoggedAuditEntry {
  return { ...parseAuditEntry(fields[1] ?? '{}'), position }
}
