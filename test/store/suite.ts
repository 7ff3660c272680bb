import type { Test } from 'tap'
import { absenceCases } from './cases/absence.ts'
import { accountChangeCases } from './cases/account-changes.ts'
import { accountCases } from './cases/accounts.ts'
import { auditCases } from './cases/audit.ts'
import { auditChainCases } from './cases/audit-chain.ts'
import { changeLogCases } from './cases/change-log.ts'
import { endingSessionsCases } from './cases/ending-sessions.ts'
import { keyUseCases } from './cases/key-uses.ts'
import { pagingCases } from './cases/paging.ts'
import { passwordCases } from './cases/passwords.ts'
import { portalSessionCases } from './cases/portal-sessions.ts'
import { raceCases } from './cases/races.ts'
import { rateCases } from './cases/rates.ts'
import { reopeningCases } from './cases/reopening.ts'
import { rotationCases } from './cases/rotation.ts'
import { searchCases } from './cases/search.ts'
import { sessionLimitCases } from './cases/session-limit.ts'
import { sessionCases } from './cases/sessions.ts'
import { signingKeyCases } from './cases/signing-keys.ts'
import { tieCases } from './cases/ties.ts'
import type { NewPlace } from './place.ts'

/** The contract of the store port (src/store/store.ts): every adapter, in every form, passes all of it. */
export function runStoreSuite(t: Test, newPlace: NewPlace): void {
  for (const cases of [
    accountCases,
    absenceCases,
    pagingCases,
    accountChangeCases,
    endingSessionsCases,
    sessionCases,
    sessionLimitCases,
    rotationCases,
    raceCases,
    signingKeyCases,
    tieCases,
    changeLogCases,
    reopeningCases,
    rateCases,
    passwordCases,
    portalSessionCases,
    keyUseCases,
    auditCases,
    auditChainCases,
    searchCases,
  ]) {
    cases(t, newPlace)
  }
}
