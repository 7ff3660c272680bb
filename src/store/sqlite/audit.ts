import type { AuditStore } from '../audit.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables/tables.ts'
import type { Writer } from './writer.ts'

export function openAudit(
  { read }: Database,
  { writeUncached, onAudit }: Writer,
  { audit }: Pick<Tables, 'audit'>,
): AuditStore {
  return {
    appendAudit: (entry) =>
      writeUncached(
        () => {},
        () => true,
        [entry],
      ),
    findAudit: async ({ filter, before, limit }) => read(() => audit.find(filter, before, limit)),
    readAuditChains: async () => read(audit.chains),
    readAuditChain: async (page) => read(() => audit.page(page)),
    onAudit,
  }
}
