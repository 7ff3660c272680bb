import type { AccountStore } from './accounts.ts'
import type { AuditStore, EventStore } from './audit.ts'
import type { BackupStore } from './backup/records.ts'
import type { ChangeStore } from './changes.ts'
import type { ImportedKeyStore, KeyStore } from './keys.ts'
import type { PortalStore } from './portal.ts'
import type { QuotaStore } from './quotas.ts'
import type { RateStore } from './rates.ts'
import type { SessionStore } from './sessions.ts'
import type { SigningKeyStore } from './signing-keys.ts'
import type { StoreDiagnostics } from './store-health.ts'
import type { SubjectStore } from './subjects.ts'
import type { UsageStore } from './usage.ts'

/**
 * The port to the store: one slice for each noun, of which consumers take those that they use. Every verb is atomic: it
 * happens completely or not at all. Only `importSecretKeys`, and on Redis `importAccounts` and `recordKeyUses`, may be
 * done in part. Once a verb has resolved it survives a crash. A rejection with a GatehouseError `store-unavailable`
 * means "could not answer", any other is a fault: a bug, or a damaged record. "Not found" is a result. Times are
 * milliseconds since 1970. An `audit` entry is written in the same step, if something is changed.
 */
export interface Store
  extends AccountStore,
    KeyStore,
    ImportedKeyStore,
    SessionStore,
    SigningKeyStore,
    RateStore,
    QuotaStore,
    ChangeStore,
    AuditStore,
    EventStore,
    PortalStore,
    UsageStore,
    SubjectStore,
    StoreDiagnostics,
    BackupStore {
  /** Resolves once the store answers. @throws OperatorError if it does not in time */
  ready(timeoutMs: number): Promise<void>
  close(): Promise<void>
}
