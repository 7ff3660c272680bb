import { auditData } from '#accounts/audit-log.ts'
import { verifyAudit } from '#accounts/verify-audit.ts'
import { countOf } from '#platform/text.ts'
import { type AuditAction, auditActions } from '#store/audit-entry.ts'
import { type Command, UsageError } from './command.ts'
import { withOperator } from './operator.ts'
import { printData, printList } from './print.ts'

const entriesShown = 50
const entriesMax = 100_000

const list: Command = {
  name: 'audit list',
  summary: 'Lists the entries of the audit log, newest first.',
  examples: ['gatehouse audit list --who ada@example.com --limit 10'],
  options: {
    action: { value: 'ACTION', help: 'Only entries with this action.', choices: auditActions },
    who: {
      value: 'ID|EMAIL',
      help: 'Only entries by or about this account, or by this operator.',
    },
    limit: { value: 'N', help: `Maximum number of entries; default ${entriesShown}.` },
  },
  run: async (invocation) => {
    const limit = parseLimit(invocation.text('limit'))
    const filter = { action: parseAction(invocation.text('action')), who: invocation.text('who') }
    const { entries } = await withOperator(invocation.config, ({ audit }) =>
      audit.find({ filter, before: undefined, limit }),
    )
    const data = entries.map((entry) => ({ id: entry.position, ...auditData(entry) }))
    printList(invocation, data, {
      columns: {
        AT: ({ at }) => at,
        ACTOR: ({ actor }) => actor,
        FROM: ({ address }) => address,
        ACTION: ({ action }) => action,
        TARGET: ({ target }) => target,
      },
      whenEmpty: 'No matching entries.',
    })
  },
}

const verify: Command = {
  name: 'audit verify',
  summary: 'Verifies the hash chain of the audit log: that no entry was changed or removed.',
  examples: ['gatehouse audit verify'],
  run: async (invocation) => {
    const result = await withOperator(invocation.config, ({ store }) => verifyAudit(store))
    if (result.kind === 'broken') {
      const { position, problem } = result
      const data = { verified: false, entry: position ?? null, problem }
      printData(invocation, data, [
        `Audit log verification failed at entry ${position ?? '(none)'}: ${problem}.`,
      ])
      return 1
    }
    const { entries, unchained } = result
    const before =
      unchained === 0 ? '' : ` (${unchained} of them were written before entries were chained: not checked)`
    printData(invocation, { verified: true, entries, unchained }, [
      `Audit log is intact: ${countOf(entries, 'entry', 'entries')}${before}.`,
    ])
  },
}

function parseLimit(text: string | undefined): number {
  const limit = Number(text ?? entriesShown)
  if (!Number.isInteger(limit) || limit < 1 || limit > entriesMax) {
    throw new UsageError(`--limit must be a whole number from 1 to ${entriesMax}`)
  }
  return limit
}

function parseAction(text: string | undefined): AuditAction | undefined {
  const action = auditActions.find((name) => name === text)
  if (text !== undefined && !action)
    throw new UsageError(`--action must be one of ${auditActions.join(', ')}`)
  return action
}

export const auditCommands: readonly Command[] = [list, verify]
