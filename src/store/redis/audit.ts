import { type LoggedAuditEntry, parseAuditEntry } from '../audit.ts'
import type { PortalStore } from '../portal-store.ts'
import { createAudited } from './audited.ts'
import type { Connection } from './connection.ts'
import { loadScript } from './scripts.ts'

/** There is nothing before 0-0, which Redis does not take for the end of an interval. */
const positionPattern = /^(?!0+-0+$)\d{1,15}-\d{1,15}$/

const appendScript = loadScript('append-audit', { isChange: true, isAudited: true })

/** The audit log as a stream, in which nothing can be changed. */
export function openAudit(connection: Connection): Pick<PortalStore, 'appendAudit' | 'listAudit'> {
  const { keys, ask, confirmAbsence } = connection
  const audited = createAudited(connection)

  return {
    appendAudit: async (entry) => {
      await confirmAbsence()
      await audited(appendScript, [], [], entry)
    },
    listAudit: async ({ before, limit }) => {
      if (before !== undefined && !positionPattern.test(before)) return []
      const start = before === undefined ? '+' : `(${before}`
      const entries = await ask((client) => client.xrevrange(keys.audit, start, '-', 'COUNT', limit))
      if (entries.length === 0) await confirmAbsence()
      return entries.map(toEntry)
    },
  }
}

/** A stream entry: its ID, and its only field. */
function toEntry([position, fields]: [string, string[]]): LoggedAuditEntry {
  return { ...parseAuditEntry(fields[1] ?? '{}'), position }
}
