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

t.test('the audit page says details in words', async (t) => {
  t.match(whatWith({ plan: 'none', firstName: 'Ada' }), '>no plan, first name “Ada”<')
  t.match(whatWith({ sessionId: 's1', isMailed: true }), '>session ID s1, sent by e-mail<')
  t.match(whatWith({ name: 'ci', scopes: '' }), '>key “ci”<')
  t.match(whatWith({ name: 'ci', to: 'deploy' }), '>key “ci”, now “deploy”<')
  t.match(
    whatWith({ name: 'ci', expiresAt: '2027-01-31T00:00:00.000Z' }),
    '>key “ci”, expires <time datetime="2027-01-31T00:00:00.000Z">2027-01-31 00:00:00 UTC</time><',
  )
})

t.test('links of a filtered audit page keep its filter', async (t) => {
  const filter = { action: undefined, who: undefined, part: 'ada', from: 0, until: 86_400_000 * 2 } as const
  const html = String(auditPage(adminFrame(), { filter, entries: [], before: '7', isFirstPage: true }))
  t.match(html, 'who=ada&amp;from=1970-01-01&amp;to=1970-01-02&amp;before=7')
  t.match(html, '<input id="to" name="to" type="date" value="1970-01-02">')
})

function whatWith(details: LoggedAuditEntry['details']): string {
  const entries = reset ? [{ ...reset, details }] : []
  const filter = { action: undefined, who: undefined }
  return String(auditPage(adminFrame(), { filter, entries, before: undefined, isFirstPage: true }))
}
