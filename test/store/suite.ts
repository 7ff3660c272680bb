import type { Test } from 'tap'
import { absenceCases } from './cases/absence.ts'
import { accountChangeCases } from './cases/account-changes.ts'
import { accountCases } from './cases/accounts.ts'
import { changeLogCases } from './cases/change-log.ts'
import { endingSessionsCases } from './cases/ending-sessions.ts'
import { pagingCases } from './cases/paging.ts'
import { raceCases } from './cases/races.ts'
import { rateCases } from './cases/rates.ts'
import { reopeningCases } from './cases/reopening.ts'
import { rotationCases } from './cases/rotation.ts'
import { sessionCases } from './cases/sessions.ts'
import { signingKeyCases } from './cases/signing-keys.ts'
import type { NewPlace } from './place.ts'

/** The contract of the store port (src/store/store.ts): every adapter, in every form, passes all of it. */
export function runStoreSuite(t: Test, newPlace: NewPlace): void {
  for (const cases of [
    ...[accountCases, absenceCases, pagingCases, accountChangeCases, endingSessionsCases],
    ...[sessionCases, rotationCases, raceCases, signingKeyCases, changeLogCases, reopeningCases],
    rateCases,
  ]) {
    cases(t, newPlace)
  }
}
