import t from 'tap'
import { auditClassOf } from '#store/audit.ts'
import { newAuditEntry } from './portal-samples.ts'

const system = { kind: 'system', channel: 'system' } as const

t.test(
  'failed sign-ins, which a stranger can repeat, push no act on an account out of the audit log',
  async (t) => {
    t.equal(auditClassOf(newAuditEntry({ action: 'sign-in-failed', actor: system })), 'own')
    t.equal(auditClassOf(newAuditEntry({ action: 'account-deleted', actor: system })), 'acts')
  },
)
