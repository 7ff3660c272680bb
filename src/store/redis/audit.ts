import { type LoggedAuditEntry, needlesOf, parseAuditEntry, passesFilter } from '../audit.ts'
import type { PortalStore } from '../portal-store.ts'
import { createAudited } from './audited.ts'
import type { Connection } from './connection.ts'
import { loadScript } from './scripts.ts'

/** Not 0-0: nothing is before it, and Redis refuses it as the end of an interval. */
const positionPattern = /^(?!0+-0+$)\d{1,15}-\d{1,15}$/

/** How many entries are looked at for one answer: this blocks Redis for some milliseconds. */
const scannedMax = 1_000

const findScript = loadScript('find-audit')
const appendScript = loadScript('append-audit', { isAudited: true })

/** The audit log as a stream, whose entries cannot be changed. */
export function openAudit(connection: Connection): Pick<PortalStore, 'appendAudit' | 'findAudit'> {
  const { keys, run, confirmAbsence } = connection
  const audited = createAudited(connection)

  return {
    appendAudit: async (entry) => {
      await confirmAbsence()
      await audited(appendScript, [], [], entry)
    },
    findAudit: async ({ filter, before, limit }) => {
      if (before !== undefined && !positionPattern.test(before)) return { entries: [], before: undefined }
      const start = before === undefined ? '+' : `(${before}`
      const { exact, lower } = needlesOf(filter)
      const answer = await run(findScript, [keys.audit], [start, scannedMax, limit, exact, lower])
      // The cast is sound: the script answers nothing else.
      const [next, found] = answer as [string, [string, string[]][]]
      if (next === '' && found.length === 0) await confirmAbsence()
      const entries = found.map(toEntry).filter((entry) => passesFilter(entry, filter))
      return { entries, before: next === '' ? undefined : next }
    },
  }
}

/** A stream entry: its ID, and its only field. */
function toEntry([position, fields]: [string, string[]]): LoggedAuditEntry {
  return { ...parseAuditEntry(fields[1] ?? '{}'), position }
}
