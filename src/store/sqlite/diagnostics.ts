import type { StoreDiagnostics } from '../diagnostics.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables/tables.ts'

export function openDiagnostics(
  { write, onWrite }: Database,
  { storeRow }: Pick<Tables, 'storeRow'>,
): StoreDiagnostics {
  return {
    probeWrite: () => write(storeRow.probe),
    onWrite,
    findRisks: async () => [],
  }
}
