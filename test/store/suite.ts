import type { Test } from 'tap'
import { absenceCases } from './contract/absence.ts'
import { runAccountContract } from './contract/accounts.ts'
import { runAuditContract } from './contract/audit.ts'
import { runBackupContract } from './contract/backup.ts'
import { runChangeContract } from './contract/changes.ts'
import { runEventContract } from './contract/events.ts'
import { runImportedKeyContract } from './contract/imported-keys.ts'
import { runKeyContract } from './contract/keys.ts'
import { runPortalContract } from './contract/portal.ts'
import { runQuotaContract } from './contract/quotas.ts'
import { runRateContract } from './contract/rates.ts'
import { reopeningCases } from './contract/reopening.ts'
import { runSessionContract } from './contract/sessions.ts'
import { runSigningKeyContract } from './contract/signing-keys.ts'
import { runSubjectContract } from './contract/subjects.ts'
import { runUsageContract } from './contract/usage.ts'
import type { NewPlace } from './place.ts'

/** The contract of the store port (src/store/store.ts), slice by slice: every adapter, in every form, passes all of it. */
export function runStoreSuite(t: Test, newPlace: NewPlace): void {
  for (const run of [
    runAccountContract,
    runKeyContract,
    runImportedKeyContract,
    runSessionContract,
    runSigningKeyContract,
    runRateContract,
    runQuotaContract,
    runChangeContract,
    runAuditContract,
    runEventContract,
    runPortalContract,
    runUsageContract,
    runSubjectContract,
    runBackupContract,
    // Of the whole store.
    absenceCases,
    reopeningCases,
  ]) {
    run(t, newPlace)
  }
}
