import type { BackupRecord, RecordKind, StoreRecord } from './records.ts'

/** Everything that a store holds, to be kept elsewhere, or moved to another driver. */
export interface BackupStore {
  /**
   * All records, in batches, while others write. Every write that was acknowledged before the first batch is there, and
   * all accounts are as of one moment, with the audit log of that moment. SQLite reads everything as of the beginning.
   * Redis reads accounts one after the other: those that have changed meanwhile follow again as `changed` or `gone`,
   * and the last of these counts.
   * @throws GatehouseError `store-unavailable`, at any batch; what came before is then of no use
   */
  backUp(): AsyncIterable<readonly BackupRecord[]>
  /**
   * Writes all records, or none where one cannot be written or the batches fail. Only into an empty store, into which
   * nobody else writes meanwhile. In Redis what a killed process has written counts as nothing, is used by no gateway,
   * and is removed by the next call.
   * @throws OperatorError where two records exclude each other, such as accounts with one e-mail; what the batches throw
   */
  restore(batches: AsyncIterable<readonly StoreRecord[]>): Promise<Restoration>
}

/** `used`: the store is not empty, it has a record of this kind; `busy`: another process restores it now. */
export type Restoration =
  | { readonly kind: 'restored' | 'busy' }
  | { readonly kind: 'used'; readonly by: RecordKind }
