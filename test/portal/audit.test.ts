import t from 'tap'
import { auditPage } from '#portal/views/audit-page.ts'
import type { LoggedAuditEntry } from '#store/audit-entry.ts'
import { adminFrame, auditEntries } from './samples.ts'

const [reset] = auditEntries

t.test("the audit page shows a reset's overlap in plain words", async (t) => {
  const said = [
    [0, 'no grace period'],
    [45, 'grace period 45 s'],
    [5_000, 'grace period 1 h 23 min'],
    [86_400, 'grace period 1 d'],
  ] as const
  for (const [graceSeconds, text] of said) t.match(whatWith({ graceSeconds }), `>${text}<`)
})

function whatWith(details: LoggedAuditEntry['details']): string {
  const entries = reset ? [{ ...reset, details }] : []
  const filter = { action: undefined, who: undefined }
  return String(auditPage(adminFrame(), { filter, entries, before: undefined, isFirstPage: true }))
}
